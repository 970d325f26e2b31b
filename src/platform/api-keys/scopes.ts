/** The scopes that narrow a key to a part of the API. */
export const KEY_SCOPES = [
  'transfers',
  'cards',
  'payments',
  'virtual_accounts',
  'identity',
  'billpay',
  'webhooks',
] as const;
/** A part of the API. A key without scopes reaches everything that its level allows. */
export type KeyScope = (typeof KEY_SCOPES)[number];

/** The one table of operations and scopes, by the first part of the operation's path. */
const SCOPE_OF_PATH: Readonly<Record<string, KeyScope | null>> = {
  transfers: 'transfers',
  cards: 'cards',
  payments: 'payments',
  'virtual-accounts': 'virtual_accounts',
  identity: 'identity',
  billpay: 'billpay',
  webhooks: 'webhooks',
  events: 'webhooks',
  // The balance and its statement show the movements of all parts, so no scope is enough.
  balance: null,
};

/** The scope that allows an operation; null if only a key without scopes may call it, as for a path that is not listed. */
export const scopeOf = ({ path }: { path: string }): KeyScope | null =>
  SCOPE_OF_PATH[path.split('/')[1] ?? ''] ?? null;

/** Tells whether every path is listed, so that a new part of the API is decided on purpose. */
export const isScoped = ({ path }: { path: string }): boolean =>
  Object.hasOwn(SCOPE_OF_PATH, path.split('/')[1] ?? '');

/** The scopes with which a key moves money out of the wallet to others. */
const PAYS_OUT: ReadonlySet<KeyScope> = new Set(['transfers', 'billpay']);

/** Tells whether a key can pay money out of the wallet to others. */
export const paysOut = ({
  kind,
  level,
  scopes,
}: {
  kind: 'secret' | 'public';
  level: 'read' | 'write' | 'admin';
  scopes?: readonly KeyScope[] | null;
}): boolean =>
  kind === 'secret' && level !== 'read' && (!scopes || scopes.some((scope) => PAYS_OUT.has(scope)));
