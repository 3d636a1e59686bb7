/** The passphrase that seals the keys in an archive. */
import { readFile } from 'node:fs/promises'
import { messageOf } from '../../../apimachinery/messageOf.ts'

/** Shorter ones are guessed. */
const LEAST_BYTES = 8

/** All of a file but the end of its last line. @throws Error naming the flag */
export async function passphraseIn(file: string): Promise<Buffer> {
  let bytes: Buffer
  try {
    bytes = await readFile(file)
  } catch (error) {
    throw new Error(`--key-file: ${file} cannot be read: ${messageOf(error)}`, { cause: error })
  }
  const end = bytes.at(-1) === 0x0a ? (bytes.at(-2) === 0x0d ? -2 : -1) : bytes.length
  const passphrase = bytes.subarray(0, end)
  if (passphrase.length < LEAST_BYTES)
    throw new Error(
      `--key-file: ${file} has ${passphrase.length} bytes, and a passphrase has at least ${LEAST_BYTES}: "openssl rand -base64 32" prints one`,
    )
  return passphrase
}
