import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Injectable, Module } from '@nestjs/common';
import { type PayloadCodec, RedisScheduledQueueModule } from 'nestjs-redis-scheduled-queue';

/** Keys of 32 bytes: here from mounted secrets, or ask your key service. */
@Injectable()
export class Keys {
  get(name: string): Promise<Buffer> {
    return readFile(`${process.env.SECRETS}/queue-key-${name}`);
  }
}

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts payloads. What is stored: the IV, the authentication tag, the encrypted JSON. */
export class EncryptingCodec implements PayloadCodec<Buffer> {
  readonly id: string;

  constructor(
    private readonly keys: Keys,
    private readonly keyName: string,
  ) {
    this.id = `${CIPHER}.${keyName}`;
  }

  async encode(payload: unknown): Promise<Buffer> {
    const key = await this.keys.get(this.keyName);
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, key, iv);
    const text = JSON.stringify(payload);
    const encrypted = Buffer.concat([cipher.update(text), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), encrypted]);
  }

  async decode(stored: Buffer): Promise<unknown> {
    const key = await this.keys.get(this.keyName);
    const iv = stored.subarray(0, IV_BYTES);
    const tag = stored.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
    const encrypted = stored.subarray(IV_BYTES + TAG_BYTES);
    const decipher = createDecipheriv(CIPHER, key, iv).setAuthTag(tag);
    const text = Buffer.concat([decipher.update(encrypted), decipher.final()]);
    return JSON.parse(text.toString());
  }
}

@Module({ providers: [Keys], exports: [Keys] })
export class KeysModule {}

@Module({
  imports: [
    RedisScheduledQueueModule.forRootAsync({
      imports: [KeysModule],
      inject: [Keys],
      useFactory: (keys: Keys) => ({
        connection: process.env.REDIS_URL!,
        codec: new EncryptingCodec(keys, '2027'),
        // Jobs that were scheduled before the change of keys.
        codecs: [new EncryptingCodec(keys, '2026')],
      }),
    }),
  ],
})
export class EncryptedQueueModule {}
