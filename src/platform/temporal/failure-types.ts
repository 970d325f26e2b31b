/** Type of the failure of an update whose operator command was refused. */
export const REFUSED = 'Refused';
