import type { MongoClient } from 'mongodb';
import { migrations } from '../../src/composition/migrations.js';
import { wantedOf } from '../../src/platform/database/migrations.js';
import { shardKeysOf, tenantCommandOf, type TenantCommand } from './tenant-rules.mjs';

export type { TenantCommand };

const shardKeys = shardKeysOf(wantedOf(migrations).map(([spec]) => spec));

/**
 * Collects the commands of a client on collections that may be sharded. The client must have been created with
 * `monitorCommands`.
 */
export function watchTenantCommands(client: MongoClient, database: string): TenantCommand[] {
  const seen: TenantCommand[] = [];
  client.on('commandStarted', ({ databaseName, commandName, command }) => {
    const found =
      databaseName === database ? tenantCommandOf(shardKeys, commandName, command) : null;
    if (found) seen.push(found);
  });
  return seen;
}
