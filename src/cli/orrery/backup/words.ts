/** How backup and restore speak of archives. */
import type { ArchiveHeader } from '../../../storage/archive/archive.ts'

export function shownSize(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}

export function keysLine({ sealed }: Pick<ArchiveHeader, 'sealed'>): string {
  return sealed
    ? `${sealed.names.length} files with keys are in it, sealed`
    : 'the keys of the server (pki/) are not in it: --key-file seals them in; without them all credentials end with a restore'
}
