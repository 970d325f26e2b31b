import type { MongoClient } from 'mongodb';
import { TRANSACTION_OPTIONS } from '../src/database/client.js';
import type { AcceptItem } from '../src/ledger/decide.js';
import { ledgerCollections } from '../src/ledger/store.js';
import { holdPosting } from '../src/transfers/postings.js';

/**
 * What the store is measured against: the transaction that one would write first. One for each transfer, with the
 * same checks, documents and durability as group commit, retried by the driver (with its backoff) when it conflicts.
 */
export function createPlainTransactions(client: MongoClient, databaseName: string) {
  const { keys, transfers, postings, wallets } = ledgerCollections(client.db(databaseName));

  return async ({
    tenant,
    transfer,
    claim,
    answer,
    dailyLimitMinor,
  }: AcceptItem): Promise<void> => {
    if (!claim) throw new Error('a bench item has a key');
    await client.withSession((session) =>
      session.withTransaction(async () => {
        if (await keys.findOne({ _id: claim.id }, { session })) throw new Error('key is taken');
        const { reference } = transfer;
        if (await transfers.findOne({ tenant, reference }, { session, projection: { _id: 1 } })) {
          throw new Error('reference is taken');
        }
        const wallet = await wallets.findOne({ _id: tenant }, { session });
        if (!wallet || wallet.available_minor < transfer.total_minor) {
          throw new Error('insufficient balance');
        }
        const day = wallet.day > transfer.day ? wallet.day : transfer.day;
        const used = wallet.day === day ? wallet.day_used_minor : 0n;
        const dayUsedMinor = used + transfer.amount_minor;
        if (dayUsedMinor > dailyLimitMinor) throw new Error('limit exceeded');

        await transfers.insertOne({ ...transfer, day }, { session });
        const hold = holdPosting(transfer);
        await postings.insertOne(
          {
            _id: hold.id,
            tenant,
            at: hold.at,
            legs: hold.legs.map((leg) => ({ account: leg.account, amount_minor: leg.amountMinor })),
          },
          { session },
        );
        await keys.insertOne(
          {
            _id: claim.id,
            tenant,
            fingerprint: claim.fingerprint,
            status: answer.status,
            body: answer.body,
            resource: transfer._id,
            created_at: claim.createdAt,
            expires_at: claim.expiresAt,
          },
          { session },
        );
        await wallets.updateOne(
          { _id: tenant },
          {
            $inc: { available_minor: -transfer.total_minor, version: 1 },
            $set: { day, day_used_minor: dayUsedMinor },
          },
          { session },
        );
      }, TRANSACTION_OPTIONS),
    );
  };
}
