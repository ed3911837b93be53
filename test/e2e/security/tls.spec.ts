import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ClusterOptions } from 'ioredis';
import type { ConnectionOption } from '../../../lib/index.js';
import { runProgram } from '../../support/command-line.js';
import { LogLines } from '../../support/log-lines.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { TestCluster } from '../../support/redis-cluster.js';
import { TestSentinels } from '../../support/redis-sentinel.js';
import { StreamReader } from '../../support/stream-reader.js';
import { Certificates, startTlsServer, type TlsServer, whyNoTls } from '../../support/tls.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

// What docs/security.md says of TLS. The certificate of the servers names localhost and no address, as those of real servers do.

const missing = whyNoTls();
if (missing) process.stderr.write(`The tests of TLS are left out: ${missing}.\n`);

(missing ? describe.skip : describe)('over TLS', () => {
  let certificates: Certificates;
  let ca: Buffer;
  let server: TlsServer;

  beforeAll(async () => {
    certificates = new Certificates();
    ca = certificates.read('ca.pem');
    server = await startTlsServer(certificates);
  });
  afterEach(stopApps);
  afterAll(async () => {
    await server?.stop();
    certificates?.remove();
  });

  it('a server is used whose certificate the given authority has signed', async () => {
    const log = await worksOver({ host: 'localhost', port: server.tlsPort, tls: { ca } });
    expect(log.atStart).toContainEqual(expect.stringContaining(`Connected to rediss://localhost:${server.tlsPort}/0 `));
  });

  it('a server that is known by its address is used where servername says what its certificate names', async () => {
    await worksOver({ host: '127.0.0.1', port: server.tlsPort, tls: { ca, servername: 'localhost' } });
  });

  it('a server that asks for a certificate gets it', async () => {
    const strict = await startTlsServer(certificates, '--tls-auth-clients', 'yes');
    try {
      const tls = { ca, cert: certificates.read('client.pem'), key: certificates.read('client.key') };
      await worksOver({ host: 'localhost', port: strict.tlsPort, tls });
      expect(await whyRefused({ host: 'localhost', port: strict.tlsPort, tls: { ca } })).toMatch(
        /certificate required/,
      );
    } finally {
      await stopApps();
      await strict.stop();
    }
  });

  it.each([
    ['that no known authority has signed', 'localhost', /self-signed certificate in certificate chain/],
    ['that names another server', '127.0.0.1', /does not match certificate's altnames/],
  ])('nothing is sent to a server with a certificate %s, and the error says so', async (_, host, reason) => {
    const message = await whyRefused({ host, port: server.tlsPort, tls: host === 'localhost' ? {} : { ca } });
    expect(message).toMatch(reason);
    expect(message).not.toMatch(/speak TLS/);
  });

  it.each([
    ['servername, where nodes are known by their addresses', [], false],
    [
      'dnsLookup, where nodes tell their names',
      ['--cluster-announce-hostname', 'localhost', '--cluster-preferred-endpoint-type', 'hostname'],
      true,
    ],
  ])('a cluster is used by %s', async (_, options: string[], byName) => {
    const cluster = await TestCluster.start(0, (...more) => startTlsServer(certificates, ...options, ...more));
    try {
      const nodes = cluster.nodes.map(({ host, port }) => ({ host: byName ? 'localhost' : host, port }));
      const redisOptions = { tls: { ca, ...(!byName && { servername: 'localhost' }) } };
      const dnsLookup: ClusterOptions['dnsLookup'] = (host, done) => done(null, host);
      await worksOver({ cluster: { nodes, options: { redisOptions, ...(byName && { dnsLookup }) } } });
    } finally {
      await stopApps();
      await cluster.stop();
    }
  });

  it('the primary that sentinels name is used, and they are asked over TLS too', async () => {
    const redis = await TestSentinels.start(0, certificates);
    try {
      const tls = { ca, servername: 'localhost' };
      const sentinels = redis.sentinels.map(({ host, tlsPort }) => ({ host, port: tlsPort }));
      const connection = { sentinels, name: 'main', tls };
      await worksOver({ ...connection, sentinelTLS: tls, enableTLSForSentinelMode: true });
      // Their other port speaks none.
      await worksOver({ ...connection, sentinels: [...redis.sentinels], enableTLSForSentinelMode: true });
      // In the clear, at the port of the primary that speaks TLS alone.
      expect(await whyRefused({ ...connection, sentinelTLS: tls })).toMatch(/^Redis is unavailable/);
    } finally {
      await stopApps();
      await redis.stop();
    }
  });

  it('the command line trusts the authority that NODE_EXTRA_CA_CERTS names', async () => {
    const env = { REDIS_URL: `rediss://localhost:${server.tlsPort}` };
    const trusting = { ...env, NODE_EXTRA_CA_CERTS: certificates.file('ca.pem') };
    expect(await runProgram(['queues', '--json'], trusting)).toMatchObject({ code: 0, err: '' });
    const { code, err } = await runProgram(['queues', '--json'], env);
    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('self-signed certificate') });
  });

  /** Schedules a job, runs it and hears its events: over connections for commands, for messages and for streams. */
  async function worksOver(connection: ConnectionOption): Promise<LogLines> {
    const log = new LogLines();
    const queues = { default: { streamEvents: { maxLength: 10 } } };
    const { producer, events, get } = await startApp([Work], { connection, queues }, { log });
    const reader = new StreamReader(events, '0');
    await producer.schedule('work', 1, { id: 'one' });
    await until('it has run', () => get(Work).has('one'));
    await until('its end is told', () => reader.seen.length >= 2);
    expect(log.lines).toEqual([]);
    return log;
  }

  async function whyRefused(connection: ConnectionOption): Promise<string> {
    const { producer } = await startApp([], { connection, commandTimeoutMs: '1s' });
    return producer.schedule('work', 1).then(
      () => 'it was taken',
      (error: Error) => error.message,
    );
  }
});
