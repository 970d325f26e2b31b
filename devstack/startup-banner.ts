import { unsupportedMongod } from '../src/shared/mongodb-support.js';
import type { DevFile } from './data-dir.js';

type Style = Record<'bold' | 'dim', (text: string) => string>;

const PLAIN: Style = { bold: (text) => text, dim: (text) => text };
const ANSI: Style = {
  bold: (text) => `\u001B[1m${text}\u001B[22m`,
  dim: (text) => `\u001B[2m${text}\u001B[22m`,
};

/** Formats the output of `npm start`: addresses, a key, and a request to paste. `mongod`: the version of the one it started. */
export function startupBanner(
  dev: DevFile,
  home: string,
  { colours, mongod }: { colours: boolean; mongod: string | null },
): string {
  const { bold, dim } = colours ? ANSI : PLAIN;
  const rows: [string, string][] = [
    ['API', dev.api_url],
    ['Docs', dev.docs_url],
    ['Operator API', `${dev.operator_url}/openapi.json`],
    ['Console', `${dev.operator_url}/console/  ${dim('sign in: operators in dev.json')}`],
    ['Temporal UI', uiLink(dev) ?? `(yours, at ${dev.temporal_address})`],
    ['Sandbox bank', `${dev.sandbox_bank_url}/_sandbox/journal`],
    ['Metrics', dev.metrics_url],
    ['Data, logs', home],
    ['Secret key', `${dev.keys.secret}  ${dim('admin, demo tenant, sandbox')}`],
  ];
  const unsupported = mongod === null ? null : unsupportedMongod(mongod);
  const table = rows.map(([name, value]) => `  ${dim(name.padEnd(13))} ${value}`);
  return [
    '',
    bold('  Bursar is running.'),
    '',
    ...table,
    ...(unsupported === null ? [] : ['', `  ${unsupported}.`]),
    '',
    bold('  Send ₦2,500 (paste this):'),
    '',
    request(dev),
    '',
    bold('  Read the transfer:'),
    '',
    `curl -s '${dev.api_url}/api/v1/transfers?limit=1' -H 'Authorization: Bearer ${dev.keys.secret}'`,
    '',
    dim('  Ctrl-C stops everything; the next start finds its data again.'),
    '',
  ].join('\n');
}

/** Links to our namespace, because the UI opens on another one. */
function uiLink({ temporal_ui_url: url, temporal_namespace: namespace }: DevFile): string | null {
  return url === null ? null : `${url}/namespaces/${namespace}/workflows`;
}

function request({ api_url: url, keys }: DevFile): string {
  const body = {
    amount_minor: 250_000,
    recipient_account: '0123456789',
    recipient_bank_code: '058',
    narration: 'My first transfer',
  };
  return [
    `curl -s '${url}/api/v1/transfers' \\`,
    `  -H 'Authorization: Bearer ${keys.secret}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -H 'Idempotency-Key: my-first' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
}
