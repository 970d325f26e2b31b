import { auditEndCollection, auditLogCollection } from '../core/audit/store.js';
import { commitProcessesCollection } from '../core/commit/processes.js';
import { idempotencyKeysCollection, postingsCollection } from '../core/ledger/collections.js';
import { deliveriesCollection, eventsCollection } from '../core/webhooks/deliveries.js';
import { endpointsCollection } from '../core/webhooks/endpoints.js';
import { apiKeysCollection } from '../platform/api-keys/document.js';
import { wantedOf } from '../platform/database/migrations.js';
import type { DatabaseUser, Rights } from '../platform/database/roles.js';
import { operatorKeysCollection, operatorsCollection } from '../platform/operators/document.js';
import { sealingKeysCollection } from '../platform/sealing/key-register.js';
import { tenantsCollection } from '../platform/tenants/store.js';
import { capabilities } from './capabilities.js';
import { migrations } from './migrations.js';

const COLLECTIONS = wantedOf(migrations).map(([{ name }]) => name);

/** Collections of the migrations themselves. */
const RECORDS_OF_MIGRATIONS = ['migrations', 'migration_lock'];
/** The marks by which a database knows its environment, its peppers, and the last use of a provider's secret. */
const MARKS = 'environment';

/** Collections from which the loops of the service remove old documents. */
const AGING = [
  eventsCollection.name,
  deliveriesCollection.name,
  'provider_events',
  'provider_event_replays',
  commitProcessesCollection.name,
];

/** Collections from which operators remove documents: `ledger archive`, rotated keys, endpoints, answers that show an erased customer. */
const REMOVED_BY_OPERATORS = [
  postingsCollection.name,
  ...capabilities.flatMap(({ archived = [] }) => archived.map((each) => each.collection.name)),
  apiKeysCollection.name,
  endpointsCollection.name,
  idempotencyKeysCollection.name,
];

/** Collections that operators alone write, and those of them in which the service keeps times and states. */
const OPERATORS_OWN = [
  tenantsCollection.name,
  operatorsCollection.name,
  operatorKeysCollection.name,
  apiKeysCollection.name,
  endpointsCollection.name,
];
const NOTED_BY_SERVICE = [apiKeysCollection.name, endpointsCollection.name];

const READ = ['find'] as const;
const NOTE = ['find', 'update'] as const;
const WRITE = ['find', 'insert', 'update'] as const;
const REMOVE = [...WRITE, 'remove'] as const;

/** The rights of API, worker and operator API on each collection. Nobody changes or removes an entry of the audit log. */
function writersRights(byOperators: boolean): Rights {
  const all = Object.fromEntries(COLLECTIONS.map((name) => [name, WRITE]));
  const each = (names: readonly string[], actions: Rights['collections'][string]) =>
    Object.fromEntries(names.map((name) => [name, actions]));
  return {
    collections: {
      ...all,
      ...each(AGING, REMOVE),
      // A posting never changes.
      [postingsCollection.name]: ['find', 'insert'],
      ...each(OPERATORS_OWN, READ),
      ...each(NOTED_BY_SERVICE, NOTE),
      ...(byOperators && {
        ...each(OPERATORS_OWN, WRITE),
        ...each(REMOVED_BY_OPERATORS, REMOVE),
        [postingsCollection.name]: ['find', 'insert', 'remove'],
      }),
      ...each(RECORDS_OF_MIGRATIONS, READ),
      [MARKS]: WRITE,
      [auditLogCollection.name]: ['find', 'insert'],
      [auditEndCollection.name]: WRITE,
    },
    database: ['listCollections', 'listIndexes'],
  };
}

/** The rights of each user of the database. */
export const databaseRights: Readonly<Record<DatabaseUser, Rights>> = {
  migrate: {
    collections: {
      ...Object.fromEntries([...RECORDS_OF_MIGRATIONS, MARKS].map((name) => [name, WRITE])),
      [sealingKeysCollection.name]: WRITE,
    },
    database: ['createCollection', 'createIndex', 'collMod', 'listCollections', 'listIndexes'],
  },
  service: writersRights(false),
  operator: writersRights(true),
  read_only: { collections: {}, database: ['find', 'listCollections', 'listIndexes'] },
};
