import type { AnyBulkWriteOperation, Collection, Db, Document } from 'mongodb';
import { createFieldSealing, type FieldSealing, type SealedCollection } from './sealed-fields.js';
import type { Sealing } from './sealing.js';

/** Wraps a database: sealed fields are in clear for the service, and never for MongoDB. */
export type WrapDatabase = (db: Db) => Db;

/**
 * Seals the fields of these collections on the way into the database, and opens them on the way out, so that stores and the
 * commit engine work with clear values. A filter cannot name a sealed field: look a record up by its blind index. An update
 * that sets a sealed field names one record by its `_id`.
 */
export function sealedDatabase(
  sealing: Sealing,
  collections: readonly SealedCollection[],
): WrapDatabase {
  const fields = new Map(
    collections.map((each) => [each.name, createFieldSealing(sealing, each)] as const),
  );
  return (db) =>
    override(db, {
      collection(name: string, options?: object) {
        const raw = db.collection(name, options);
        const sealed = fields.get(name);
        return sealed ? sealedCollection(raw, sealed) : raw;
      },
    });
}

/** Seals the fields of a document that will soon be inserted into this collection; see `FieldSealing`. */
export function sealAhead<T extends Document>(collection: Collection<T>, document: T): void {
  (collection as Partial<Pick<FieldSealing, 'sealAhead'>>).sealAhead?.(document);
}

/** The object with other methods. Those that stay see the object itself as `this`. */
const override = <T extends object>(target: T, methods: object): T =>
  Object.assign(Object.create(target) as T, methods);

const sealedCollection = (raw: Collection, fields: FieldSealing): Collection =>
  override(raw, {
    ...reads(raw, fields),
    ...writes(raw, fields),
    sealAhead: (document: Document) => fields.sealAhead(document),
  });

const reads = (raw: Collection, fields: FieldSealing) => ({
  find: (...given: Parameters<Collection['find']>) =>
    raw.find(...given).map((found) => fields.openDocument(found)),
  async findOne(...given: Parameters<Collection['findOne']>) {
    const found = await raw.findOne(...given);
    return found && fields.openDocument(found);
  },
});

type Update = Document | Document[];

const writes = (raw: Collection, fields: FieldSealing) => ({
  insertOne: (document: Document, options?: object) =>
    raw.insertOne(fields.sealDocument(document), options),
  insertMany: (documents: Document[], options?: object) =>
    raw.insertMany(
      documents.map((each) => fields.sealDocument(each)),
      options,
    ),
  replaceOne: (filter: Document, document: Document, options?: object) =>
    raw.replaceOne(filter, replacement(fields, filter, document), options),
  updateOne: (filter: Document, update: Update, options?: object) =>
    raw.updateOne(filter, sealUpdate(fields, update, filter['_id']), options),
  updateMany: (filter: Document, update: Update, options?: object) =>
    raw.updateMany(filter, sealUpdate(fields, update, null), options),
  async findOneAndUpdate(filter: Document, update: Update, options: object = {}) {
    const found = await raw.findOneAndUpdate(
      filter,
      sealUpdate(fields, update, filter['_id']),
      options,
    );
    return found && fields.openDocument(found);
  },
  bulkWrite: (operations: AnyBulkWriteOperation[], options?: object) =>
    raw.bulkWrite(
      operations.map((each) => sealOperation(fields, each)),
      options,
    ),
});

/** A replacement that does not repeat its id is sealed for the id of its filter. */
function replacement(fields: FieldSealing, filter: Document, document: Document) {
  if ('_id' in document) return fields.sealDocument(document);
  const { _id, ...sealed } = fields.sealDocument({ ...document, _id: filter['_id'] });
  return sealed;
}

/** `$set` and `$setOnInsert` set values. A pipeline computes its values in the database, which has no clear ones. */
function sealUpdate(fields: FieldSealing, update: Update, id: unknown): Update {
  if (Array.isArray(update)) return update;
  const { $set, $setOnInsert, ...rest } = update;
  return {
    ...rest,
    ...($set && { $set: fields.sealValues($set, id) }),
    ...($setOnInsert && { $setOnInsert: fields.sealValues($setOnInsert, id) }),
  };
}

function sealOperation(fields: FieldSealing, given: AnyBulkWriteOperation): AnyBulkWriteOperation {
  const operation = given as Document;
  const { insertOne, updateOne, updateMany, replaceOne } = operation;
  const updated = (one: Document, id: unknown) => ({
    ...one,
    update: sealUpdate(fields, one['update'] as Update, id),
  });
  const sealed = {
    ...operation,
    ...(insertOne && { insertOne: { document: fields.sealDocument(insertOne['document']) } }),
    ...(updateOne && { updateOne: updated(updateOne, updateOne['filter']['_id']) }),
    ...(updateMany && { updateMany: updated(updateMany, null) }),
    ...(replaceOne && {
      replaceOne: {
        ...replaceOne,
        replacement: replacement(fields, replaceOne['filter'], replaceOne['replacement']),
      },
    }),
  };
  return sealed as AnyBulkWriteOperation;
}
