import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Of the user `operator`: the one that DASHBOARD_PASSWORD names, or one for this start, which the log tells. */
export const password = process.env.DASHBOARD_PASSWORD || randomBytes(6).toString('base64url');

const expected = `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`;

/** Middleware that lets in who gives the password: guards of Nest do not run before other middleware, which the dashboard is. */
export function onlyOperators(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  if (isEqual(request.headers.authorization ?? '', expected)) next();
  else response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="queues"' }).end();
}

/** Takes as long however much is right. */
function isEqual(given: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(right));
}
