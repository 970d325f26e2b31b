import { fillTables } from './tables.js';

/** The pages of the guide, in reading order: Markdown in docs/guide, under a title each. */
export const GUIDE = [
  'getting-started',
  'authentication',
  'idempotency',
  'errors',
  'rate-limits',
  'pagination',
  'transfer-states',
  'using-cards',
  'taking-payments',
  'recurring-charges',
  'webhooks',
  'test-values',
  'versioning',
] as const;

type Schema = {
  oneOf?: { required?: string[]; properties?: object }[];
  required?: string[];
  properties?: object;
};
type OpenApi = { info: object; tags?: { name: string }[]; components?: { schemas?: object } };
type Page = { title: string; text: string };

/**
 * What the viewer shows: the OpenAPI document with the guide in front. A page of the guide is a tag without operations,
 * which the viewer lists, searches and links like the others.
 */
export function reference(openApi: OpenApi, read: (page: string) => string): object {
  const introduction = toPage(read('introduction'));
  const guide = GUIDE.map((name) => toPage(read(name)));
  const tags = openApi.tags ?? [];
  for (const { title } of guide) {
    // The viewer would show one in place of the other.
    if (tags.some(({ name }) => name === title)) throw new Error(`"${title}" is a tag of the API`);
  }
  const schemas = Object.entries<Schema>({ ...openApi.components?.schemas }).map(
    ([name, schema]) => [name, firstWay(schema)] as const,
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

/** Links between files become links within the page. */
function toPage(markdown: string): Page {
  const [, title = '', text = ''] = /^# (.+)\n+([^]*)$/.exec(fillTables(markdown)) ?? [];
  if (title === '') throw new Error('A page of the guide begins with its title: # …');
  return { title, text: text.replaceAll(/\]\(([\w-]+)\.md\)/g, '](#tag/$1)') };
}

/**
 * Where a body can be written in older names too, the page shows the present ones. A property that is `false` is one
 * that this way of writing does not have.
 */
function firstWay({ oneOf, ...schema }: Schema): Schema {
  const [first] = oneOf ?? [];
  if (!first?.required) return oneOf ? { oneOf, ...schema } : schema;
  const absent = new Set(
    Object.entries(first.properties ?? {}).flatMap(([name, has]) => (has === false ? [name] : [])),
  );
  return {
    ...schema,
    required: [...(schema.required ?? []), ...first.required],
    properties: Object.fromEntries(
      Object.entries(schema.properties ?? {}).filter(([name]) => !absent.has(name)),
    ),
  };
}
