import type { CommandStartedEvent, Document, MongoClient } from 'mongodb';
import { migrations } from '../../src/composition/migrations.js';
import { wantedOf } from '../../src/platform/database/migrations.js';

const shardKeys = new Map(wantedOf(migrations).map(([{ name, shardBy }]) => [name, shardBy]));

/** The name of the collection of a command, with the filters that decide which shards are asked. */
function targetOf({ commandName, command }: CommandStartedEvent): [string, Document[]] | null {
  const name = String(command[commandName]);
  switch (commandName) {
    case 'find':
      return [name, [command['filter']]];
    case 'aggregate':
      return [name, [command['pipeline'][0]?.$match ?? {}]];
    case 'count':
    case 'distinct':
    case 'findAndModify':
      return [name, [command['query'] ?? {}]];
    case 'update':
      return [name, command['updates'].map(({ q }: Document) => q)];
    case 'delete':
      return [name, command['deletes'].map(({ q }: Document) => q)];
    default:
      return null;
  }
}

/** True if the filter names the value of a field, or some of them. */
function isNamed(filter: Document, field: string): boolean {
  const wanted: unknown = filter[field];
  if (typeof wanted === 'string') return true;
  if (typeof wanted !== 'object' || wanted === null) return false;
  return '$in' in wanted || ('$gte' in wanted && '$lt' in wanted);
}

const names = (filter: Document, field: string): boolean =>
  isNamed(filter, field) ||
  (Array.isArray(filter['$or']) && filter['$or'].every((each) => isNamed(each, field)));

/** A command on data of tenants. */
export type TenantCommand = {
  /** The command and its collection, with the comment that it has. */
  shown: string;
  namesTenant: boolean;
  comment: string | undefined;
  command: Document;
};

/**
 * Collects the commands of a client on collections that may be sharded. The client must have been created with
 * `monitorCommands`.
 */
export function watchTenantCommands(client: MongoClient, database: string): TenantCommand[] {
  const seen: TenantCommand[] = [];
  client.on('commandStarted', (started) => {
    const target = started.databaseName === database ? targetOf(started) : null;
    const field = target && shardKeys.get(target[0]);
    if (!target || !field) return;
    const comment = started.command['comment'] as string | undefined;
    seen.push({
      shown: [started.commandName, target[0], ...(comment ? [`(${comment})`] : [])].join(' '),
      namesTenant: target[1].every((filter) => names(filter, field)),
      comment,
      command: started.command,
    });
  });
  return seen;
}
