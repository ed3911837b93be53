import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { succeeds } from './install-redis.js';
import { freePort, type OwnRedisServer, serverOnPath, startOwnServer } from './redis-server.js';

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** An authority, a certificate of servers that names `localhost` and no address, and one of clients. */
export class Certificates {
  private readonly directory = mkdtempSync(join(tmpdir(), 'scheduled-queue-tls-'));

  constructor() {
    this.openssl('req', '-x509', ...KEY, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=authority', '-days', '2');
    writeFileSync(this.file('names'), 'subjectAltName = DNS:localhost');
    for (const name of ['server', 'client']) {
      this.openssl('req', ...KEY, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
      const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names', '-days', '2'];
      this.openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...signed);
    }
  }

  /** The lines of a configuration of Redis by which a server speaks TLS, with other servers too, and asks clients for no certificate. */
  get lines(): string[] {
    return [
      `tls-cert-file ${this.file('server.pem')}`,
      `tls-key-file ${this.file('server.key')}`,
      `tls-ca-cert-file ${this.file('ca.pem')}`,
      'tls-auth-clients no',
      'tls-replication yes',
      'tls-cluster yes',
    ];
  }

  file(name: string): string {
    return join(this.directory, name);
  }

  read(name: string): Buffer {
    return readFileSync(this.file(name));
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  private openssl(...args: string[]): void {
    execFileSync('openssl', args, { cwd: this.directory, stdio: 'pipe' });
  }
}

/** Why there are no servers with TLS here; `undefined` where there are. */
export function whyNoTls(): string | undefined {
  if (!succeeds('openssl', 'version')) return 'there is no openssl on PATH';
  const server = serverOnPath();
  if (!server) return 'there is no redis-server or valkey-server on PATH';
  // It ends at once, as it is to listen nowhere; built without TLS it does not even know the option.
  const { stdout } = spawnSync(server, ['--port', '0', '--tls-port', '0', '--dir', tmpdir()], { encoding: 'utf8' });
  return stdout.includes('not listen anywhere') ? undefined : `this ${server} is built without TLS`;
}

export interface TlsServer extends OwnRedisServer {
  tlsPort: number;
}

/** A server that speaks TLS at a port of its own, and none at `port`. */
export async function startTlsServer(certificates: Certificates, ...options: string[]): Promise<TlsServer> {
  const tlsPort = await freePort();
  const lines = [`tls-port ${tlsPort}`, ...certificates.lines];
  const server = await startOwnServer(...lines.flatMap((line) => `--${line}`.split(' ')), ...options);
  return Object.assign(server, { tlsPort });
}
