// Decides whether a command on data of tenants names a tenant. Plain JavaScript, because watch-commands.mjs runs in processes
// from dist/.

/** The name of the collection of a command, with the filters that decide which shards are asked. */
function targetOf(commandName, command) {
  const name = String(command[commandName]);
  switch (commandName) {
    case 'find':
      return [name, [command.filter]];
    case 'aggregate':
      return [name, [command.pipeline[0]?.$match ?? {}]];
    case 'count':
    case 'distinct':
    case 'findAndModify':
      return [name, [command.query ?? {}]];
    case 'update':
      return [name, statementsOf(command.updates)];
    case 'delete':
      return [name, statementsOf(command.deletes)];
    default:
      return null;
  }
}

/** The filters of writes. The driver sends them as an array or as a sequence of documents. */
const statementsOf = (statements) => (statements.documents ?? statements).map(({ q }) => q);

/** True if the filter names the value of a field, or some of them. */
function isNamed(filter, field) {
  const wanted = filter[field];
  if (typeof wanted === 'string') return true;
  if (typeof wanted !== 'object' || wanted === null) return false;
  return '$in' in wanted || ('$gte' in wanted && '$lt' in wanted);
}

const names = (filter, field) =>
  isNamed(filter, field) ||
  (Array.isArray(filter.$or) && filter.$or.every((each) => isNamed(each, field)));

/** The shard keys of collections, from their specs. */
export const shardKeysOf = (specs) => new Map(specs.map(({ name, shardBy }) => [name, shardBy]));

/** A command on a collection that may be sharded; null for another one. */
export function tenantCommandOf(shardKeys, commandName, command) {
  const target = targetOf(commandName, command);
  const field = target && shardKeys.get(target[0]);
  if (!target || !field) return null;
  const { comment } = command;
  return {
    shown: [commandName, target[0], ...(comment ? [`(${comment})`] : [])].join(' '),
    namesTenant: target[1].every((filter) => names(filter, field)),
    comment,
    command,
  };
}
