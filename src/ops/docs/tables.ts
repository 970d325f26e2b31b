import { ERRORS } from '../../shared/errors.js';
import { events } from '../../composition/operations.js';
import { TEST_ACCOUNTS } from '../../../sandbox-bank/transfers/behaviours.js';
import { PLANS } from '../../platform/tenants/tenant.js';

type Row = readonly (string | number)[];

const table = (...rows: [Row, ...Row[]]) => {
  const [head, ...body] = rows;
  return [head, head.map(() => '---'), ...body].map((row) => `| ${row.join(' | ')} |`).join('\n');
};

const thousands = (count: number) => count.toLocaleString('en');

/** Tables of the guide that are generated from the code, by the name between the marks. */
const TABLES: Readonly<Record<string, () => string>> = {
  errors: () =>
    table(
      ['code', 'status', 'meaning'],
      ...Object.entries(ERRORS)
        .toSorted(([, [a]], [, [b]]) => a - b)
        .map(([code, [status, meaning]]) => [
          `\`${code}\``,
          status,
          meaning.replaceAll('<', '&lt;'),
        ]),
    ),
  events: () =>
    table(
      ['event', 'when'],
      ...events.flatMap(({ when }) =>
        Object.entries(when).map(([name, text]) => [`\`${name}\``, text]),
      ),
    ),
  plans: () =>
    table(
      ['plan', 'requests in a minute', 'burst'],
      ...Object.entries(PLANS).map(([plan, { ratePerMinute, burstPerMinute }]) => [
        plan,
        thousands(ratePerMinute),
        thousands(burstPerMinute),
      ]),
    ),
  'test-accounts': () =>
    table(
      ['ends in', 'what happens', 'what Bursar does'],
      ['any other', 'paid at once', 'completed'],
      ...TEST_ACCOUNTS.map(({ ending, bank, transfer }) => [ending, bank, transfer]),
    ),
};

/**
 * Replaces the text between `<!-- table: … -->` and `<!-- end -->` by the generated table. Throws if a table is
 * unknown.
 */
export function fillTables(markdown: string): string {
  return markdown.replaceAll(
    /(<!-- table: ([\w-]+) -->\n)[^]*?(<!-- end -->)/g,
    (_all, begin: string, name: string, end: string) => {
      const make = TABLES[name];
      if (!make) throw new Error(`The guide names an unknown table: ${name}.`);
      return `${begin}\n${make()}\n\n${end}`;
    },
  );
}
