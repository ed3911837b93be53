import { type Context, propagation, ROOT_CONTEXT, type TextMapGetter, type TextMapSetter } from '@opentelemetry/api';
import type { JobHeaders } from '../core/observe/tracer.js';

/** As many as the headers that a call gives may have: a context is stored with each job, and baggage may be of any size. */
const MOST_BYTES = 4_096;
/** The only header of a context that says nothing of its trace. */
const BAGGAGE = 'baggage';

/** Headers are strings; a propagator may be anybody's. */
const SETTER: TextMapSetter<Record<string, string>> = {
  set(headers, name, value) {
    if (typeof name === 'string' && typeof value === 'string') headers[name] = value;
  },
};

const GETTER: TextMapGetter<JobHeaders> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, name) => (Object.hasOwn(headers, name) ? headers[name] : undefined),
};

/** The context as headers of a job; `undefined` if the propagator writes none, or more than a job may carry. */
export function toHeaders(context: Context): JobHeaders | undefined {
  const headers: Record<string, string> = {};
  propagation.inject(context, headers, SETTER);
  if (Object.keys(headers).length === 0) return undefined;
  return Buffer.byteLength(JSON.stringify(headers)) > MOST_BYTES ? undefined : headers;
}

/** The context that the headers of a job hold; that of a new trace if they hold none. */
export function fromHeaders(headers: JobHeaders): Context {
  return propagation.extract(ROOT_CONTEXT, headers, GETTER);
}

/**
 * Headers that were given for a job, and a context beside them; a header that was given stays. If one of them names a trace, the context
 * adds nothing to it: the `traceparent` of one trace and the `tracestate` of another name none.
 */
export function withContext(given: JobHeaders, carried: JobHeaders): JobHeaders {
  const ofTrace = propagation.fields().filter((name) => name !== BAGGAGE);
  const namesTrace = ofTrace.some((name) => Object.hasOwn(given, name));
  return { ...(namesTrace ? without(carried, ofTrace) : carried), ...given };
}

/** Headers without those of the context that a job has brought along, where they are still the same. */
export function withoutContext(headers: JobHeaders, ofJob: JobHeaders): JobHeaders {
  const unchanged = propagation.fields().filter((name) => headers[name] === ofJob[name]);
  return without(headers, unchanged);
}

function without(headers: JobHeaders, names: readonly string[]): JobHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}
