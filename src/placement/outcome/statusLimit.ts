/** How much a syncer may report of an object: whoever holds its credential writes, and everybody who reads the mailbox pays. */
import type { KubeObject } from '../../apimachinery/object.ts'

export const STATUS_LIMIT_BYTES = 256 * 1024

export function isStatusTooLarge({ status }: Readonly<KubeObject>): boolean {
  return status !== undefined && Buffer.byteLength(JSON.stringify(status)) > STATUS_LIMIT_BYTES
}
