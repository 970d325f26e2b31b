type ObjectSchema = {
  type?: unknown;
  properties?: Record<string, object>;
  required?: readonly string[];
  additionalProperties?: unknown;
};

/** One form of a body: its name behind that of the body, the fields that it requires beside those of the schema, and those that it lacks or narrows. */
type Form = {
  name: string;
  required: readonly string[];
  lacks: (name: string) => boolean;
  narrowed?: Readonly<Record<string, object>>;
};

/**
 * Describes a body that has one of several forms, for the OpenAPI document, where a refinement of the schema leaves no trace.
 * Each form is complete, because generators of clients understand neither `properties` beside `oneOf` nor `false`.
 */
export const oneOfForms = (...forms: readonly Form[]) => ({
  override: ({ jsonSchema }: { jsonSchema: object }) => {
    const whole = jsonSchema as ObjectSchema;
    const { type, properties = {}, required = [], additionalProperties } = whole;
    const oneOf = forms.map(({ name: title, required: own, lacks, narrowed }) => ({
      title,
      type,
      properties: Object.fromEntries(
        Object.entries({ ...properties, ...narrowed }).filter(([name]) => !lacks(name)),
      ),
      required: [...new Set([...own, ...required])],
      additionalProperties,
    }));
    delete whole.type;
    delete whole.properties;
    delete whole.required;
    delete whole.additionalProperties;
    Object.assign(jsonSchema, { oneOf });
  },
});

type Schemas = Record<string, object>;

/** Moves the forms of every body into components of their own, which generators of clients name. */
export function nameForms(schemas: Schemas): void {
  for (const [name, schema] of Object.entries(schemas)) {
    const { oneOf, description } = schema as {
      oneOf?: readonly { title?: string }[];
      description?: string;
    };
    if (!oneOf?.every(({ title }) => title !== undefined)) continue;
    const refs = oneOf.map(({ title, ...form }) => {
      schemas[`${name}${title}`] = { ...(description !== undefined && { description }), ...form };
      return { $ref: `#/components/schemas/${name}${title}` };
    });
    Object.assign(schema, { oneOf: refs });
  }
}
