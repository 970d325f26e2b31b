import { isGrpcServiceError, type Connection } from '@temporalio/client';
import { SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { StartRefused } from '../../shared/start-refused.js';
import { searchAttributes } from './search-attributes.js';

/** The server's numbers for the value types of search attributes. */
const INDEXED_VALUE_TYPES = {
  [SearchAttributeType.TEXT]: 1,
  [SearchAttributeType.KEYWORD]: 2,
  [SearchAttributeType.INT]: 3,
  [SearchAttributeType.DOUBLE]: 4,
  [SearchAttributeType.BOOL]: 5,
  [SearchAttributeType.DATETIME]: 6,
  [SearchAttributeType.KEYWORD_LIST]: 7,
} as const;

/** The search attributes of the service, each with the server's number of its type. */
const EXPECTED_ATTRIBUTES = Object.values(searchAttributes).map(
  (key) => [key.name, INDEXED_VALUE_TYPES[key.type]] as const,
);

/** The key of a namespace's data that names the environment it belongs to. */
const OWNER = 'bursar-environment';
const GRPC_NOT_FOUND = 5;
const GRPC_ALREADY_EXISTS = 6;
const RETENTION_DAYS = 7;

const ignoreExisting = (error: unknown) => {
  if (isGrpcServiceError(error) && error.code === GRPC_ALREADY_EXISTS) return;
  throw error;
};

/**
 * Creates the namespace and its search attributes where they are missing. Throws if an attribute has another type,
 * because a workflow that sets it would fail its task forever. Throws if the namespace belongs to the other
 * environment.
 */
export async function ensureNamespace(
  connection: Connection,
  namespace: string,
  environment: string,
): Promise<void> {
  await connection.workflowService
    .registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(`${RETENTION_DAYS} days`),
      data: { [OWNER]: environment },
    })
    .catch(ignoreExisting);
  await claim(connection, namespace, environment);
  const deadline = Date.now() + 60_000;
  for (;;) {
    const problem = await registerMissing(connection, namespace);
    if (!problem) return;
    // A new namespace becomes visible to the whole server after some seconds.
    if (Date.now() > deadline) throw new Error(problem);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/**
 * Checks a namespace that an administrator has registered, and changes nothing. Throws an error that names what is missing,
 * and with the command that registers it.
 */
export async function checkNamespace(
  connection: Connection,
  namespace: string,
  environment: string,
): Promise<void> {
  const found = await connection.workflowService
    .describeNamespace({ namespace })
    .catch((error: unknown) => {
      if (!isGrpcServiceError(error) || error.code !== GRPC_NOT_FOUND) throw error;
      throw new StartRefused(
        `There is no Temporal namespace ${namespace}, and BURSAR_TEMPORAL_REGISTER is false. An administrator runs: ` +
          namespaceCommand(namespace),
      );
    });
  refuseOther(found.namespaceInfo?.data?.[OWNER], namespace, environment);
  const { missing, wrong } = await findSearchAttributeProblems(connection, namespace);
  if (wrong.length > 0) throw new StartRefused(otherType(wrong[0]));
  if (missing.length === 0) return;
  throw new StartRefused(
    `The namespace ${namespace} lacks search attributes, and BURSAR_TEMPORAL_REGISTER is false. An administrator runs: ` +
      searchAttributesCommand(namespace, missing),
  );
}

/** The command by which an administrator registers a namespace. */
export const namespaceCommand = (namespace: string) =>
  `temporal operator namespace create --namespace ${namespace} --retention ${RETENTION_DAYS}d`;

/** The command by which an administrator registers these search attributes. */
export function searchAttributesCommand(namespace: string, missing: readonly string[]): string {
  const pairs = Object.values(searchAttributes)
    .filter(({ name }) => missing.includes(name))
    .map(({ name, type }) => `--name ${name} --type ${TypedSearchAttributes.toMetadataType(type)}`);
  return `temporal operator search-attribute create --namespace ${namespace} ${pairs.join(' ')}`;
}

/** Claims the namespace: like a database, it belongs to the environment that used it first. */
async function claim(connection: Connection, namespace: string, environment: string) {
  const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace });
  const owner = namespaceInfo?.data?.[OWNER];
  if (owner === environment) return;
  refuseOther(owner, namespace, environment);
  // Namespaces made by `npm start` and by administrators name no owner.
  const updateInfo = { data: { [OWNER]: environment } };
  await connection.workflowService.updateNamespace({ namespace, updateInfo });
}

/** Throws if a namespace belongs to the other environment. */
function refuseOther(owner: string | null | undefined, namespace: string, environment: string) {
  if (!owner || owner === environment) return;
  throw new StartRefused(
    `The Temporal namespace ${namespace} belongs to the ${owner} environment, and this is ${environment}: ` +
      'give it a TEMPORAL_NAMESPACE of its own.',
  );
}

const otherType = (name: string | undefined) =>
  `the search attribute ${name} exists with another type`;

/** Finds search attributes that are not registered, and those that are registered with another type. */
export async function findSearchAttributeProblems(
  connection: Connection,
  namespace: string,
): Promise<{ missing: string[]; wrong: string[] }> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = EXPECTED_ATTRIBUTES.filter(([name]) => !(name in customAttributes));
  const wrong = EXPECTED_ATTRIBUTES.filter(
    ([name, type]) => name in customAttributes && Number(customAttributes[name]) !== type,
  );
  return { missing: missing.map(([name]) => name), wrong: wrong.map(([name]) => name) };
}

async function registerMissing(connection: Connection, namespace: string): Promise<string | null> {
  try {
    const { missing, wrong } = await findSearchAttributeProblems(connection, namespace);
    if (wrong.length > 0) return otherType(wrong[0]);
    if (missing.length === 0) return null;
    const searchAttributes = Object.fromEntries(
      EXPECTED_ATTRIBUTES.filter(([name]) => missing.includes(name)),
    );
    await connection.operatorService
      .addSearchAttributes({ namespace, searchAttributes })
      .catch(ignoreExisting);
    return `search attributes are not registered yet: ${missing.join(', ')}`;
  } catch (error) {
    return `search attributes can't be registered: ${String(error)}`;
  }
}
