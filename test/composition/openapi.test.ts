import { openApi } from '../../src/composition/operations.js';

/** Generators of clients read the document: `npm run openapi:clients` runs two of them. */
type Schema = { $ref?: string; type?: unknown; description?: string; properties?: Schemas };
type Schemas = Record<string, Schema | boolean>;
type Content = { content?: { 'application/json'?: { schema: Schema } } };
type Document = {
  tags: { name: string; description?: string }[];
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string;
        parameters?: { name: string; description?: string; schema?: { example?: string } }[];
        responses: Record<string, Content>;
      }
    >
  >;
  webhooks: Record<string, { post: { requestBody: Content } }>;
  components: { schemas: Schemas; responses: Record<string, Content> };
};

const document = openApi() as unknown as Document;

/** Every object of the document but its examples. */
function partsOf(part: unknown): { properties?: Schemas; type?: unknown }[] {
  if (typeof part !== 'object' || part === null) return [];
  const below = Object.entries(part).filter(([name]) => !/^examples?$/.test(name));
  return [part, ...below.flatMap(([, each]) => partsOf(each))];
}

test('every property has a description', () => {
  // Conditions, such as `not`, have no type of their own.
  const objects = partsOf(document).filter(({ type }) => type === 'object');
  const bare = objects.flatMap(({ properties = {} }) =>
    Object.entries(properties).filter(([, each]) => typeof each !== 'object' || !each.description),
  );
  expect(bare).toEqual([]);
});

test('every component has a description', () => {
  const bare = Object.entries(document.components.schemas).filter(
    ([, each]) => typeof each !== 'object' || !each.description,
  );
  expect(bare.map(([name]) => name)).toEqual([]);
});

test('every parameter of a path, a query and a header has a description', () => {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap(({ parameters = [] }) =>
      parameters.map((each) => ({ path, ...each })),
    ),
  );
  expect(all.length).toBeGreaterThan(100);
  expect(all.filter(({ description }) => !description)).toEqual([]);
});

test('every idempotency key has an example, of its operation alone, so that sample requests show the header', () => {
  const keys = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ parameters = [] }) =>
      parameters.filter(({ name }) => name === 'Idempotency-Key'),
    ),
  );
  const examples = keys.flatMap(({ schema }) => schema?.example ?? []);
  expect(examples).toContain('create-transfer-1');
  expect(new Set(examples).size).toBe(keys.length);
});

test('every tag has a description', () => {
  expect(document.tags.filter(({ description }) => !description)).toEqual([]);
});

test('every body of a response and of a webhook is a component with a name', () => {
  const bodies = [
    ...Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses }) => Object.values(responses)),
    ...Object.values(document.components.responses),
    ...Object.values(document.webhooks).map(({ post }) => post.requestBody),
  ].flatMap(({ content }) => content?.['application/json']?.schema ?? []);
  expect(bodies.length).toBeGreaterThan(100);
  expect(bodies.filter(({ $ref }) => $ref === undefined)).toEqual([]);
});

test('no property is `false`, which generators do not understand', () => {
  const excluded = partsOf(document).filter(
    ({ properties }) => properties && Object.values(properties).includes(false),
  );
  expect(excluded).toEqual([]);
});
