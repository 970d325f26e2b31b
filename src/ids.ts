import { TypeID, typeid } from 'typeid-js';
import { z } from 'zod';

/** Every kind of resource has its own prefix, so that an id pasted anywhere says what it is. */
const PREFIXES = {
  tenant: 'ten',
  apiKey: 'key',
  transfer: 'trf',
  bulkTransfer: 'btr',
  card: 'crd',
  cardOperation: 'cop',
  authorization: 'aut',
  cardEvent: 'cwe',
  replay: 'rpl',
  charge: 'chg',
  refund: 'ref',
  paymentToken: 'tok',
  recurringCharge: 'rec',
  request: 'req',
  event: 'evt',
  webhookEndpoint: 'whe',
  webhookDelivery: 'dlv',
} as const;

const EXAMPLE = '01kaj2v6wte8v9kcz0t3yd4m5n';

export type IdKind = keyof typeof PREFIXES;

/**
 * A new id: prefix, underscore, 26 characters of lowercase base32 whose leading part is the time (UUIDv7).
 * Only `[a-z0-9_]`, so that every provider accepts it as a reference.
 */
export function newId(kind: IdKind): string {
  return typeid(PREFIXES[kind]).toString();
}

const pattern = (kind: IdKind) => `^${PREFIXES[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;

/** An id of that kind in a path or an answer. */
export const idSchema = (kind: IdKind) =>
  z
    .string()
    .regex(new RegExp(pattern(kind)), `must be an id that begins with "${PREFIXES[kind]}_"`)
    .meta({ example: `${PREFIXES[kind]}_${EXAMPLE}` });

/** The id that is made of these bytes, 16 at least: the same for the same bytes. */
export const idOf = (kind: IdKind, bytes: Uint8Array): string =>
  TypeID.fromUUIDBytes(PREFIXES[kind], bytes.subarray(0, 16)).toString();

/** Below every id of this kind that was made at this time or later, above all earlier ones. */
export function firstIdAt(kind: IdKind, at: Date): string {
  const bytes = new Uint8Array(16);
  Buffer.from(bytes.buffer).writeUIntBE(Math.max(0, at.getTime()), 0, 6);
  return idOf(kind, bytes);
}

/** Whether `value` has the shape of an id of this kind; says nothing about existence. */
export function isId(kind: IdKind, value: string): boolean {
  return new RegExp(pattern(kind)).test(value);
}
