/**
 * Thrown at a start that the settings forbid, or that waits for an act of an administrator. The message says what to do, so a
 * process prints it as plain text, without a stack.
 */
export class StartRefused extends Error {}
