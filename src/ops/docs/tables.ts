import { ERRORS } from '../../shared/errors.js';
import { events } from '../../composition/operations.js';
import { PLANS } from '../../platform/tenants/tenant.js';

type Row = readonly (string | number)[];
/** Tables by the name between the marks, each as Markdown. */
type Tables = Readonly<Record<string, () => string>>;

const table = (...rows: [Row, ...Row[]]) => {
  const [head, ...body] = rows;
  return [head, head.map(() => '---'), ...body].map((row) => `| ${row.join(' | ')} |`).join('\n');
};

const outcomesTable = (rows: readonly Row[]) =>
  table(
    ['ends in', 'what happens', 'what Bursar does'],
    ['any other', 'paid at once', 'completed'],
    ...rows,
  );

/** The table of the sandbox bank's test accounts. The bank is a service of its own, so its list is passed in. */
export const testAccountsTable = (
  accounts: readonly { ending: string; bank: string; transfer: string }[],
) => outcomesTable(accounts.map(({ ending, bank, transfer }) => [ending, bank, transfer]));

/** The table of the sandbox's test customers of billers. */
export const testCustomersTable = (
  customers: readonly { ending: string; biller: string; payment: string }[],
) => outcomesTable(customers.map(({ ending, biller, payment }) => [ending, biller, payment]));

const thousands = (count: number) => count.toLocaleString('en');

/** Tables of the guide that are generated from the code, by the name between the marks. */
const TABLES: Tables = {
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
};

/**
 * Replaces the text between `<!-- table: … -->` and `<!-- end -->` by the generated table, one of `tables` or of
 * the service. Throws if a table is unknown.
 */
export function fillTables(markdown: string, tables: Tables): string {
  return markdown.replaceAll(
    /(<!-- table: ([\w-]+) -->\n)[^]*?(<!-- end -->)/g,
    (_all, begin: string, name: string, end: string) => {
      const make = tables[name] ?? TABLES[name];
      if (!make) throw new Error(`The guide names an unknown table: ${name}.`);
      return `${begin}\n${make()}\n\n${end}`;
    },
  );
}
