import { z } from 'zod';
import { commandLineFields } from '../../shared/command-line-settings.js';
import { SETTING_GROUPS } from '../../shared/settings.js';

/** The parts of a JSON Schema from which the type of a setting is read. */
type Schema = {
  type?: string;
  format?: string;
  enum?: readonly string[];
  default?: string | number | readonly number[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  items?: Schema;
  description?: string;
  live?: string;
};

const INTRODUCTION = `# Settings

All settings are environment variables, and a setting that is empty is not set. A process that finds a missing or invalid one names
it and does not start. \`npm run openapi\` makes this page from the schema that checks them, so do not edit it.

Times in \`…_MS\` are milliseconds, amounts in \`…_MINOR\` kobo. **required**: there is no default, and no process starts without it.
The column "in live" has what live asks beyond the type. [The operator's guide](operating/processes.md#settings) has the secrets that may come
from files, and [deploying](deploying.md#connection-to-temporal) Temporal's own variables, such as \`TEMPORAL_TLS\`.
`;

const GROUPS = { ...SETTING_GROUPS, 'The command line': commandLineFields };

const SHARED_WITH_THE_BANK = '(*) Set the same value for the process of the bank.';

/** docs/settings.md: every setting with its type, default and meaning, from the schema that checks it. */
export function settingsPage(): string {
  const groups = Object.entries(GROUPS).map(([title, fields]) => {
    const rows = Object.entries<z.ZodType>(fields).map(([name, field]) => rowOf(name, field));
    const text = [
      ['setting', 'type', 'default', 'meaning', 'in live'],
      ['---', '---', '---', '---', '---'],
      ...rows,
    ]
      .map((row) => `| ${row.join(' | ')} |`)
      .join('\n');
    const note = text.includes('(*)') ? `\n\n${SHARED_WITH_THE_BANK}` : '';
    return `## ${title}\n\n${text}${note}\n`;
  });
  return [INTRODUCTION, ...groups].join('\n');
}

function rowOf(name: string, field: z.ZodType): string[] {
  const { type, fallback, description, live } = settingOf(field);
  if (description === undefined) throw new Error(`${name} has no description`);
  return [`\`${name}\``, type, fallback, description, live ?? ''];
}

/**
 * Reads the schema of a setting. The text of a variable is converted, so its type is that of the result, and where the
 * result has none in JSON, that of the text.
 */
function settingOf(field: z.ZodType) {
  const [result, text] = (['output', 'input'] as const).map(
    (io) => z.toJSONSchema(field, { io, unrepresentable: 'any' }) as Schema,
  );
  const schema = result?.type === undefined && result?.enum === undefined ? text : result;
  const isRequired = !field.safeParse(undefined).success;
  const fallback = schema?.default ?? text?.default;
  return {
    type: typeOf(schema ?? {}),
    fallback: isRequired ? '**required**' : printed(fallback),
    description: result?.description,
    live: result?.live,
  };
}

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((each) => `\`${each}\``).join(', ');
  if (schema.format === 'uri') return 'URL';
  if (schema.type === 'array') {
    const item = typeOf(schema.items ?? {});
    return item === 'text' ? 'list' : `list of: ${item}`;
  }
  if (schema.type !== 'integer' && schema.type !== 'number') return 'text';
  return [schema.type, ...boundsOf(schema)].join(', ');
}

function boundsOf({ minimum, exclusiveMinimum, maximum }: Schema): string[] {
  const isBound = (bound: number | undefined): bound is number =>
    bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
  return [
    ...(isBound(minimum) ? [`≥ ${readable(minimum)}`] : []),
    ...(isBound(exclusiveMinimum) ? [`> ${readable(exclusiveMinimum)}`] : []),
    ...(isBound(maximum) ? [`≤ ${readable(maximum)}`] : []),
  ];
}

const readable = (bound: number) => bound.toLocaleString('en');

/** A default as one would set it. */
function printed(value: Schema['default']): string {
  return value === undefined || value === '' ? '–' : `\`${value.toString()}\``;
}
