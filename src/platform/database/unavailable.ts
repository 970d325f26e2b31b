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

/**
 * Errors of a connection pool that is full, or was cleared because its server went away. The driver does not export
 * them.
 */
const POOL_ERRORS = new Set([
  'MongoWaitQueueTimeoutError',
  'MongoPoolClearedError',
  'MongoPoolClosedError',
]);

/** Server codes that concern the state of the server and not the request. */
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
 * Tells whether an error means that MongoDB cannot serve now (away, failing over, overloaded), so that the same request
 * may succeed later. Errors of the request itself, such as a failed validation, are not included.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof MongoError)) return false;
  // A bulk write wraps its cause, so the class of a connection error is no longer visible.
  if (error instanceof MongoBulkWriteError && isDatabaseUnavailable(error.errorResponse))
    return true;
  return (
    CONNECTION_ERRORS.some((type) => error instanceof type) ||
    POOL_ERRORS.has(error.name) ||
    (error instanceof MongoServerError && UNAVAILABLE_CODES.has(Number(error.code))) ||
    RETRYABLE_LABELS.some((label) => error.hasErrorLabel(label))
  );
}
