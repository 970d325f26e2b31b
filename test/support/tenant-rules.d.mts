import type { Document } from 'mongodb';

/** A command on data of tenants. */
export type TenantCommand = {
  /** The command and its collection, with the comment that it has. */
  shown: string;
  namesTenant: boolean;
  comment: string | undefined;
  command: Document;
};

type ShardKeys = ReadonlyMap<string, string | null | undefined>;

export function shardKeysOf(specs: readonly { name: string; shardBy?: string | null }[]): ShardKeys;
export function tenantCommandOf(
  shardKeys: ShardKeys,
  commandName: string,
  command: Document,
): TenantCommand | null;
