/**
 * A JSON schema of the part of the Compose specification that docker-compose.yml uses. It was written after the
 * specification's own schema (github.com/compose-spec/compose-spec, schema/compose-spec.json, Apache-2.0), which is not
 * copied. This one is stricter: keys that the file does not use are refused, so that a misspelt key is detected. Add
 * each new key of the file here with its type.
 */
const text = { type: 'string', minLength: 1 } as const;
const texts = { type: 'array', items: text, minItems: 1 } as const;
const duration = { type: 'string', pattern: '^[1-9][0-9]*(ms|s|m|h)$' } as const;
const scalar = { type: ['string', 'number'] } as const;
const names = { type: 'array', items: text, uniqueItems: true } as const;

function closed<Properties extends object>(properties: Properties, required: string[] = []) {
  return { type: 'object', properties, required, additionalProperties: false } as const;
}

function map<Value extends object>(value: Value) {
  return {
    type: 'object',
    patternProperties: { '^[a-zA-Z0-9._-]+$': value },
    additionalProperties: false,
  } as const;
}

const healthcheck = closed(
  {
    test: {
      type: 'array',
      items: text,
      minItems: 2,
      prefixItems: [{ enum: ['CMD', 'CMD-SHELL'] }],
    },
    interval: duration,
    timeout: duration,
    start_period: duration,
    retries: { type: 'integer', minimum: 1 },
  },
  ['test', 'interval', 'timeout', 'retries'],
);

const dependency = closed(
  { condition: { enum: ['service_started', 'service_healthy', 'service_completed_successfully'] } },
  ['condition'],
);

const service = closed(
  {
    image: { type: 'string', pattern: '^[a-z0-9./_-]+:[A-Za-z0-9._-]+(@sha256:[0-9a-f]{64})?$' },
    build: text,
    command: texts,
    entrypoint: texts,
    restart: { type: 'string', pattern: '^(no|always|unless-stopped|on-failure(:[1-9][0-9]*)?)$' },
    init: { type: 'boolean' },
    read_only: { type: 'boolean' },
    cap_drop: names,
    user: { type: 'string', pattern: '^[0-9]+:[0-9]+$' },
    tmpfs: { type: 'array', items: { type: 'string', pattern: '^/' }, minItems: 1 },
    profiles: names,
    secrets: names,
    security_opt: names,
    environment: map(scalar),
    ports: { type: 'array', items: { type: 'string', pattern: '^127\\.0\\.0\\.1:\\d+:\\d+$' } },
    volumes: { type: 'array', items: { type: 'string', pattern: '^[a-z0-9-]+:/[^:]+$' } },
    configs: { type: 'array', items: closed({ source: text, target: text }, ['source', 'target']) },
    networks: names,
    depends_on: map(dependency),
    healthcheck,
    stop_grace_period: duration,
  },
  ['image', 'restart', 'networks'],
);

/** The schema of docker-compose.yml. */
export const composeSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    services: map(service),
    networks: map({ anyOf: [{ type: 'null' }, closed({ internal: { type: 'boolean' } })] }),
    volumes: map({ type: 'null' }),
    configs: map(closed({ file: text }, ['file'])),
    secrets: map(closed({ file: text }, ['file'])),
  },
  patternProperties: { '^x-': {} },
  required: ['services'],
  additionalProperties: false,
} as const;
