import { TypeID, typeid } from 'typeid-js';
import { z } from 'zod';

/** Each kind of resource has a prefix of its own, so that an id names its kind. */
const PREFIXES = {
  tenant: 'ten',
  apiKey: 'key',
  transfer: 'trf',
  bulkTransfer: 'btr',
  card: 'crd',
  cardOperation: 'cop',
  authorization: 'aut',
  cardDispute: 'cdp',
  providerEvent: 'pev',
  providerEventReplay: 'rpl',
  charge: 'chg',
  refund: 'ref',
  dispute: 'dsp',
  paymentToken: 'tok',
  customer: 'cus',
  identityCheck: 'kyc',
  recurringCharge: 'rec',
  virtualAccount: 'va',
  deposit: 'dep',
  billPayment: 'bil',
  request: 'req',
  event: 'evt',
  webhookEndpoint: 'whe',
  webhookDelivery: 'dlv',
  operator: 'opr',
  operatorCommand: 'ocm',
  approval: 'apr',
  break: 'brk',
  reconciliationRun: 'rcn',
} as const;

const EXAMPLE = '01kaj2v6wte8v9kcz0t3yd4m5n';

/** A kind of resource that has ids. */
export type IdKind = keyof typeof PREFIXES;

/**
 * A new id: prefix, underscore, 26 characters of lowercase base32 that begin with the time (UUIDv7). The characters are
 * `[a-z0-9_]` only, so that every provider accepts the id as a reference.
 */
export function newId(kind: IdKind): string {
  return typeid(PREFIXES[kind]).toString();
}

const pattern = (kind: IdKind) => `^${PREFIXES[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;

const ID = new RegExp(`^(?:${Object.values(PREFIXES).join('|')})_[0-7][0-9a-hjkmnp-tv-z]{25}$`);

/** True for an id of any kind. */
export const isAnyId = (text: unknown): text is string => typeof text === 'string' && ID.test(text);

/** Schema of an id of this kind, in a path or in an answer. */
export const idSchema = (kind: IdKind) =>
  z
    .string()
    .regex(new RegExp(pattern(kind)), `must be an id that begins with "${PREFIXES[kind]}_"`)
    .meta({ example: `${PREFIXES[kind]}_${EXAMPLE}` });

/** The id that is derived from these bytes (at least 16): equal bytes give equal ids. */
export const idOf = (kind: IdKind, bytes: Uint8Array): string =>
  TypeID.fromUUIDBytes(PREFIXES[kind], bytes.subarray(0, 16)).toString();

/** The last time that an id has place for, in milliseconds. */
const LAST_MS = 2 ** 48 - 1;

/** A bound for queries: below every id of this kind that was made at this time or later, above all earlier ones. */
export function firstIdAt(kind: IdKind, at: Date): string {
  const bytes = new Uint8Array(16);
  Buffer.from(bytes.buffer).writeUIntBE(Math.min(Math.max(0, at.getTime()), LAST_MS), 0, 6);
  return idOf(kind, bytes);
}

/** The time at which an id was made. */
export function timeOf(id: string): Date {
  const bytes = Buffer.from(TypeID.fromString(id).toUUIDBytes());
  return new Date(bytes.readUIntBE(0, 6));
}

/** Tests the shape of an id of any kind; an attempt at a charge has its number behind the id. */
export const isOwnId = (value: string): boolean => ownIdOf(value) !== null;

/** The id of ours that a reference names, without the number of an attempt at its end; null if it names none. */
export function ownIdOf(reference: string): string | null {
  const id = reference.replace(/-[0-9]{1,4}$/, '');
  return isAnyId(id) ? id : null;
}

/** Tests the shape of an id of this kind; says nothing about its existence. */
export function isId(kind: IdKind, value: string): boolean {
  return new RegExp(pattern(kind)).test(value);
}
