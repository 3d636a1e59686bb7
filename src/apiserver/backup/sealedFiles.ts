/**
 * The keys of a server, sealed for its archive: scrypt makes a key of a passphrase, AES-256-GCM seals with it. The client of an
 * archive derives the key; the server never learns the passphrase.
 */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { isRecord } from '../../apimachinery/object.ts'
import { PKI_FILES } from '../pki/ensurePki.ts'

/** The key for one archive, and how a passphrase leads to it. */
export interface Seal {
  /** 32 bytes. */
  readonly key: Buffer
  /** Base64. */
  readonly salt: string
  /** Logarithm of the cost of scrypt. */
  readonly cost: number
}

/** Files by their path in the data dir, with `/` between its parts. */
export type Files = Readonly<Record<string, string>>

/** All that may be sealed. */
export const SEALABLE: readonly string[] = PKI_FILES.map(file => `pki/${file}`)

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const [IV_BYTES, TAG_BYTES] = [12, 16]
/** 128 MiB and some tenths of a second for each passphrase that is tried. */
const COST = 17
/** Costs that archives may name: more is no cost of ours, and would take all memory. */
const MOST_COST = 20

/** Another salt each time. */
export async function newSeal(passphrase: Buffer): Promise<Seal> {
  return await sealOf(passphrase, { salt: randomBytes(16).toString('base64'), cost: COST })
}

/** @throws Error where the cost is none of ours */
export async function sealOf(passphrase: Buffer, { salt, cost }: Omit<Seal, 'key'>): Promise<Seal> {
  if (!(cost > 0 && cost <= MOST_COST)) throw new Error(`the archive seals its keys at the unknown cost ${cost}`)
  const derive = promisify<Buffer, Buffer, number, object, Buffer>(scrypt)
  const N = 2 ** cost
  const key = await derive(passphrase, Buffer.from(salt, 'base64'), KEY_BYTES, { N, maxmem: N * 2048 })
  return { key, salt, cost }
}

export function seal(files: Files, { key }: Seal): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv)
  const sealed = Buffer.concat([cipher.update(JSON.stringify(files)), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed])
}

/** `undefined`: the seal is that of another passphrase. */
export function unseal(bytes: Buffer, { key }: Seal): Files | undefined {
  const start = IV_BYTES + TAG_BYTES
  if (bytes.length < start) return undefined
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAuthTag(bytes.subarray(IV_BYTES, start))
  try {
    const files: unknown = JSON.parse(
      Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()]).toString(),
    )
    return isFiles(files) ? files : undefined
  } catch {
    // the tag does not fit
    return undefined
  }
}

/** The seal in a request. `undefined`: it is none. */
export function readSeal(value: unknown): Seal | undefined {
  if (!isRecord(value)) return undefined
  const { key, salt, cost } = value
  if (typeof key !== 'string' || typeof salt !== 'string' || salt.length > 100 || typeof cost !== 'number')
    return undefined
  const bytes = Buffer.from(key, 'base64')
  const isCost = Number.isInteger(cost) && cost > 0 && cost <= MOST_COST
  return bytes.length === KEY_BYTES && isCost ? { key: bytes, salt, cost } : undefined
}

/** The archive holds keys and no other paths: files are written where it is restored. */
function isFiles(value: unknown): value is Files {
  return (
    isRecord(value) &&
    Object.entries(value).every(([name, text]) => SEALABLE.includes(name) && typeof text === 'string')
  )
}
