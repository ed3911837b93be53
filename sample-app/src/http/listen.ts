import { createServer } from 'node:net';
import type { INestApplication, Logger } from '@nestjs/common';

/** Listens on the port, or on a free one where it is taken. Answers the URL. */
export async function listen(app: INestApplication, port: number, logger: Logger): Promise<string> {
  const taken = await isTaken(port);
  if (taken) logger.warn(`Port ${port} is taken; using a free one. PORT chooses another.`);
  await app.listen(taken ? 0 : port);
  return `http://localhost:${app.getHttpServer().address().port}`;
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(true) : reject(error),
    );
    probe.listen(port, () => probe.close(() => resolve(false)));
  });
}
