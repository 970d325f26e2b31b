// Does what group commit does for a credit, up to the commit, and then stands still, to be killed there.
// Environment: MONGODB_URI, BURSAR_DATABASE, TENANT.
import { createMongoClient, TRANSACTION_OPTIONS } from '../../dist/src/database/client.js';
import { decide } from '../../dist/src/ledger/decide.js';
import { kindOf } from '../../dist/src/ledger/kinds.js';
import { applyWrites, ledgerCollections, readSnapshot } from '../../dist/src/ledger/store.js';

const { MONGODB_URI, BURSAR_DATABASE, TENANT: tenant } = process.env;
const client = await createMongoClient(MONGODB_URI, 'bursar-dying').connect();
const collections = ledgerCollections(client.db(BURSAR_DATABASE));
const session = client.startSession();
session.startTransaction(TRANSACTION_OPTIONS);
const items = [{ kind: 'credit', tenant, id: `credit/${tenant}/dead`, amountMinor: 777n }];
const reads = items.map((item) => kindOf(item).reads(item, false));
const snapshot = await readSnapshot(collections, reads, session);
await applyWrites(collections, decide(snapshot, items, new Date()).writes, session);
console.log('inside the transaction');
setInterval(() => {}, 1_000);
