/** The pages of the guide in reading order: Markdown files in docs/guide, each with a title. */
export const GUIDE = [
  'getting-started',
  'authentication',
  'idempotency',
  'errors',
  'rate-limits',
  'pagination',
  'balance',
  'transfer-states',
  'using-cards',
  'taking-payments',
  'recurring-charges',
  'identity',
  'bill-payments',
  'virtual-accounts',
  'webhooks',
  'test-values',
  'versioning',
] as const;

type Schema = { $ref?: string; oneOf?: Schema[]; properties?: object };
type OpenApi = { info: object; tags?: { name: string }[]; components?: { schemas?: object } };
type Page = { title: string; text: string };

/**
 * Creates the document that the viewer shows: the OpenAPI document preceded by the guide. A page of the guide is a tag
 * without operations, which the viewer lists, searches and links like the others.
 */
export function reference(openApi: OpenApi, read: (page: string) => string): object {
  const introduction = toPage(read('introduction'));
  const guide = GUIDE.map((name) => toPage(read(name)));
  const tags = openApi.tags ?? [];
  for (const { title } of guide) {
    // With equal names, the viewer would show only one of them.
    if (tags.some(({ name }) => name === title)) throw new Error(`"${title}" is a tag of the API`);
  }
  const known: Record<string, Schema> = { ...openApi.components?.schemas };
  const schemas = Object.entries(known).map(
    ([name, schema]) => [name, currentForm(schema, known)] as const,
  );
  return {
    ...openApi,
    info: { ...openApi.info, title: introduction.title, description: introduction.text },
    components: { ...openApi.components, schemas: Object.fromEntries(schemas) },
    tags: [...guide.map(({ title, text }) => ({ name: title, description: text })), ...tags],
    'x-tagGroups': [
      { name: 'Guide', tags: guide.map(({ title }) => title) },
      { name: 'API', tags: tags.map(({ name }) => name) },
    ],
  };
}

/** Reads a page and rewrites links between files to links within the document. */
function toPage(markdown: string): Page {
  const [, title = '', text = ''] = /^# (.+)\n+([^]*)$/.exec(markdown) ?? [];
  if (title === '') throw new Error('A page of the guide begins with its title: # …');
  return { title, text: text.replaceAll(/\]\(([\w-]+)\.md\)/g, '](#tag/$1)') };
}

/** The current form of a body that also accepts older names: the first of several complete forms. */
function currentForm({ oneOf, ...schema }: Schema, schemas: Record<string, Schema>): Schema {
  const [first] = oneOf ?? [];
  const form = schemas[first?.$ref?.split('/').at(-1) ?? ''];
  if (schema.properties || !form) return oneOf ? { oneOf, ...schema } : schema;
  return { ...schema, ...form };
}
