/** An address loses the parts `.` and `..`: what the board asks about a job of such an id would reach another route, such as that for all jobs. */
const NO_PART_OF_ADDRESS = /^\.{1,2}$/;
const ENCODED = /^(%(25)*2E){1,2}$/;

/** The id under which the board knows a job or a scheduler: the same, but for ids that cannot stand in an address. */
export function boardId(id: string): string {
  return NO_PART_OF_ADDRESS.test(id) || ENCODED.test(id) ? id.replaceAll('%', '%25').replaceAll('.', '%2E') : id;
}

/** The id that the board knows under this one. */
export function idOf(boardId: string): string {
  return ENCODED.test(boardId) ? decodeURIComponent(boardId) : boardId;
}
