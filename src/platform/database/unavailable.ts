import {
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerClosedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb';

const CONNECTION_ERRORS = [
  MongoClientClosedError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerClosedError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
] as const;

/** The driver does not export these: a pool that is full, or was emptied because its server went away. */
const POOL_ERRORS = new Set([
  'MongoWaitQueueTimeoutError',
  'MongoPoolClearedError',
  'MongoPoolClosedError',
]);

/** Server codes that speak of the server's state and not of the request. */
const UNAVAILABLE_CODES = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  24, // LockTimeout
  50, // MaxTimeMSExpired
  64, // WriteConcernTimeout
  89, // NetworkTimeout
  91, // ShutdownInProgress
  112, // WriteConflict
  189, // PrimarySteppedDown
  202, // NetworkInterfaceExceededTimeLimit
  251, // NoSuchTransaction: ended by transactionLifetimeLimitSeconds
  262, // ExceededTimeLimit
  9001, // SocketException
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
]);

const RETRYABLE_LABELS = [
  'TransientTransactionError',
  'UnknownTransactionCommitResult',
  'RetryableWriteError',
];

/**
 * Whether an error says that MongoDB cannot serve now (away, failing over, overloaded), so that the same request may
 * well succeed later. Errors of the request itself, a validator's refusal for one, are not.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof MongoError)) return false;
  // A bulk write wraps whatever ended it: a connection that broke is no longer to be seen by its class.
  if (error instanceof MongoBulkWriteError && isDatabaseUnavailable(error.errorResponse))
    return true;
  return (
    CONNECTION_ERRORS.some((type) => error instanceof type) ||
    POOL_ERRORS.has(error.name) ||
    (error instanceof MongoServerError && UNAVAILABLE_CODES.has(Number(error.code))) ||
    RETRYABLE_LABELS.some((label) => error.hasErrorLabel(label))
  );
}
