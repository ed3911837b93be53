import type { InvalidPayloadError } from '../../core/errors.js';

/**
 * Thrown by `JobHandler.run` where something in front of the handler found that the payload can never be handled: the job dies at once.
 * It is not exported, so nothing that a handler throws can be taken for it.
 */
export class PayloadRefusal {
  readonly #error: InvalidPayloadError;

  constructor(error: InvalidPayloadError) {
    this.#error = error;
  }

  /** The error in a refusal; `undefined` for anything else that was thrown. Asks nothing of a foreign object, which might throw. */
  static errorIn(thrown: unknown): InvalidPayloadError | undefined {
    return typeof thrown === 'object' && thrown !== null && #error in thrown ? thrown.#error : undefined;
  }
}
