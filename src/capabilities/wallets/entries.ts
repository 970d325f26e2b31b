import { accounts } from '../../core/ledger/posting.js';
import type { PostingDocument } from '../../core/ledger/collections.js';

/** The kinds of resources whose postings move a wallet, by the prefix of their ids. */
const PREFIXES = {
  transfer: 'trf',
  charge: 'chg',
  refund: 'ref',
  dispute: 'dsp',
  deposit: 'dep',
  bill_payment: 'bil',
  card_funding: 'cop',
  card_payment: 'aut',
  card: 'crd',
} as const;

const CREDIT = 'credit';

/** The types of entries. */
export const ENTRY_TYPES = [
  ...(Object.keys(PREFIXES) as (keyof typeof PREFIXES)[]),
  CREDIT,
  'other',
] as const;

/** The type of an entry. */
export type EntryType = (typeof ENTRY_TYPES)[number];

const beginnings = Object.values(PREFIXES).map((prefix) => `${prefix}_`);

/** The pattern of the ids of postings of this type. */
export function postingIds(type: EntryType): RegExp {
  if (type === CREDIT) return /^credit\//;
  if (type === 'other') return new RegExp(`^(?!credit/|${beginnings.join('|')})`);
  return new RegExp(`^${PREFIXES[type]}_`);
}

/** A change of the available amount, as people read it. */
export type Entry = {
  id: string;
  type: EntryType;
  movement: string;
  amountMinor: bigint;
  resource: string | null;
  at: Date;
};

/** Reads a posting as an entry of the tenant's statement. */
export function toEntry({ _id: id, tenant_id: tenantId, legs, at }: PostingDocument): Entry {
  const changeOf = (account: string) =>
    legs.reduce((sum, leg) => (leg.account === account ? sum + leg.amount_minor : sum), 0n);
  const amountMinor = changeOf(accounts.available(tenantId));
  const [resource = '', step = ''] = id.split('/', 2);
  const type = ENTRY_TYPES.find((each) => postingIds(each).test(id)) ?? 'other';
  const isCredit = type === CREDIT;
  const returnsAll = amountMinor === -changeOf(accounts.held(tenantId));
  return {
    id,
    type,
    movement: isCredit ? CREDIT : movementOf(step, returnsAll),
    amountMinor,
    resource: isCredit ? null : resource,
    at,
  };
}

/** The name of a step for people. The end of a hold is a release if all of it returns, otherwise a capture. */
function movementOf(step: string, returnsAll: boolean): string {
  if (step === 'resolve') return returnsAll ? 'release' : 'capture';
  const [name = ''] = /^[a-z]+(?:-[a-z]+)*/.exec(step) ?? [];
  return name.replaceAll('-', '_');
}
