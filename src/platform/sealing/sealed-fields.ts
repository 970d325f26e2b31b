import type { Document } from 'mongodb';
import { textEquals } from '../database/indexes.js';
import type { SealedField } from '../database/sealed-field.js';
import type { SealedPlace, Sealing } from './sealing.js';

/** The sealed fields of one collection. */
export type SealedCollection = { name: string; sealed: readonly SealedField[] };

/** A sealed text that no key of the list opens. The message has no part of the value. */
export class UnopenedError extends Error {
  constructor(place: string, keyId: string) {
    super(
      `${place} cannot be opened: it was changed, or BURSAR_SEALING_KEYS lacks the key ${keyId}`,
    );
  }
}

/** A sealed field, and the parts of its path. */
type Field = SealedField & { parts: string[] };

/** Seals and opens the fields of the documents of one collection. */
export type FieldSealing = ReturnType<typeof createFieldSealing>;

/** Creates the sealing of a collection's fields. Documents that are passed in stay as they are. */
export function createFieldSealing(sealing: Sealing, { name, sealed }: SealedCollection) {
  const fields = sealed
    .filter(({ byOwner, hashed }) => byOwner !== true && hashed !== true)
    .map((field): Field => ({ ...field, parts: field.path.split('.') }));
  function seal(field: SealedField, id: unknown, value: unknown): unknown {
    if (value === null || value === undefined) return value;
    if (typeof value !== 'string' || typeof id !== 'string')
      throw new Error(`${name}.${field.path} needs a text and the id of its record to be sealed`);
    return sealing.seal(value, placeOf(field, id));
  }

  function open(field: SealedField, id: unknown, value: unknown): unknown {
    const keyId = typeof value === 'string' ? sealing.keyIdOf(value) : null;
    // A value of a release that did not seal this field yet.
    if (keyId === null) return value;
    const opened = sealing.open(String(value), placeOf(field, String(id)));
    if (opened === null) throw new UnopenedError(`${name}.${field.path}`, keyId);
    return opened;
  }

  const ahead = createSealedAhead(seal);

  const indexOf = ({ path }: SealedField, value: unknown) =>
    typeof value === 'string' ? sealing.blindIndex(value, indexPurpose(name, path)) : null;

  return {
    /** A whole document, as it is stored. */
    sealDocument(document: Document): Document {
      let stored = document;
      for (const field of fields) {
        const { parts, index } = field;
        const before = stored;
        stored = replaceAt(stored, parts, (value) => ahead.of(document, field, value));
        if (index !== undefined)
          stored = { ...stored, [index]: indexOf(field, valueAt(before, parts)) };
      }
      return stored;
    },

    /**
     * Seals the fields of a document that will be inserted soon. A copy of the document that shares the objects which have sealed
     * fields is then inserted without sealing them again.
     */
    sealAhead: (document: Document) => fields.forEach((field) => ahead.seal(document, field)),

    /** The new values of `$set`, as they are stored. `id`: the record's, which the filter of the update has to name. */
    sealValues(values: Document, id: unknown): Document {
      const stored = { ...values };
      for (const field of fields) {
        for (const key of Object.keys(values)) {
          const rest = partsBelow(field.path, key);
          if (rest === null) continue;
          if (field.index !== undefined)
            stored[field.index] = indexOf(field, valueAt(values[key], rest));
          // Two fields may be below one key, so each continues with what the one before has sealed.
          stored[key] = replaceIn(stored[key], rest, (text) => seal(field, id, text));
        }
      }
      return stored;
    },

    /** A document as the service works with it, without its blind indexes. */
    openDocument<T>(document: T): T {
      let opened = document as Document;
      const { _id: id } = opened;
      for (const field of fields) {
        opened = replaceAt(opened, field.parts, (value) => open(field, id, value));
        if (field.index !== undefined && field.index in opened) {
          const { [field.index]: _, ...rest } = opened;
          opened = rest;
        }
      }
      return opened as T;
    },
  };
}

/** Keeps what is sealed ahead by the object that has the value, for as long as that object is in use, and by the path of the field. */
function createSealedAhead(seal: (field: SealedField, id: unknown, value: unknown) => unknown) {
  type Sealed = { id: unknown; value: string; sealed: unknown };
  const kept = new WeakMap<object, Map<string, Sealed>>();
  return {
    seal(document: Document, field: Field): void {
      const { _id: id } = document;
      const holder = holderOf(document, field);
      const value = valueAt(document, field.parts);
      if (!holder || typeof value !== 'string') return;
      const sealed = { id, value, sealed: seal(field, id, value) };
      kept.set(holder, (kept.get(holder) ?? new Map<string, Sealed>()).set(field.path, sealed));
    },

    /** The sealed value of a field: sealed now, unless this very value was sealed ahead for the same record. */
    of(document: Document, field: Field, value: unknown): unknown {
      const { _id: id } = document;
      const holder = holderOf(document, field);
      const early = holder && kept.get(holder)?.get(field.path);
      const isSame = early && early.id === id && early.value === value;
      return isSame ? early.sealed : seal(field, id, value);
    },
  };
}

/** The place of a field in the record with this id. */
export const placeOf = ({ path, place = path }: SealedField, record: string): SealedPlace => ({
  record,
  field: place,
});

/** The purpose of the blind index of a field. */
export const indexPurpose = (collection: string, path: string) => `${collection}.${path}`;

/** A filter for the records of a collection whose sealed field has this value. The field must have an index. */
export function fieldIs(
  sealing: Pick<Sealing, 'blindIndexes'>,
  { name, sealed = [] }: Partial<SealedCollection> & { name: string },
  path: string,
  value: string | null,
): Document {
  const index = sealed.find((field) => field.path === path)?.index;
  if (index === undefined) throw new Error(`${name}.${path} has no blind index`);
  if (value === null) return { [path]: null };
  const hashes = sealing.blindIndexes(value, indexPurpose(name, path));
  return {
    $or: [
      // The type lets MongoDB use a partial index.
      { [index]: { $in: hashes, $type: 'string' } },
      // A value of a release that did not seal this field yet.
      { [path]: textEquals(value) },
    ],
  };
}

/** The parts of `path` below `key`: none if they are equal, null if the key is elsewhere. */
function partsBelow(path: string, key: string): string[] | null {
  if (path === key) return [];
  return path.startsWith(`${key}.`) ? path.slice(key.length + 1).split('.') : null;
}

const isObject = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object that has a field; null if it is in a list or missing. */
function holderOf(document: Document, { parts }: Field): Document | null {
  const holder = valueAt(document, parts.slice(0, -1));
  return isObject(holder) ? holder : null;
}

/** Copies the objects on the way to a field, and replaces its value. A field that is not there is not added. */
function replaceAt(
  document: Document,
  [part = '', ...rest]: readonly string[],
  replace: (value: unknown) => unknown,
): Document {
  const value: unknown = document[part];
  if (value === undefined || value === null) return document;
  return { ...document, [part]: replaceIn(value, rest, replace) };
}

/** Replaces the value at these parts of a value. */
function replaceIn(
  value: unknown,
  parts: readonly string[],
  replace: (value: unknown) => unknown,
): unknown {
  if (Array.isArray(value)) return value.map((item) => replaceIn(item, parts, replace));
  if (parts.length === 0) return replace(value);
  return isObject(value) ? replaceAt(value, parts, replace) : value;
}

const valueAt = (value: unknown, [part, ...rest]: readonly string[]): unknown =>
  part === undefined ? value : isObject(value) ? valueAt(value[part], rest) : undefined;
