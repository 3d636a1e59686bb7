/** The sealed keys of an archive, opened with the passphrase of a file. */
import { type Files, sealOf, unseal } from '../../../apiserver/backup/sealedFiles.ts'
import type { ArchiveHeader } from '../../../storage/archive/archive.ts'
import { passphraseIn } from './keyFile.ts'

export class Unsealed {
  readonly #keyFile: string | undefined
  #bytes: Buffer | undefined

  constructor(keyFile: string | undefined) {
    this.#keyFile = keyFile
  }

  take(bytes: Buffer): void {
    this.#bytes = bytes
  }

  /** `undefined`: the archive has none, or there is no key file. @throws Error for the passphrase of another archive */
  async open({ sealed }: ArchiveHeader): Promise<Files | undefined> {
    const keyFile = this.#keyFile
    if (keyFile === undefined || sealed === undefined || this.#bytes === undefined) return undefined
    const files = unseal(this.#bytes, await sealOf(await passphraseIn(keyFile), sealed))
    if (files === undefined)
      throw new Error(`--key-file: ${keyFile} has not the passphrase with which the keys in the archive were sealed`)
    return files
  }
}
