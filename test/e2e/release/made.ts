/** A release of the working tree, as docs/install.md made it. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Release {
  /** The one file, with links of the plugins' names beside it. */
  readonly program: string
  /** Identity at `/version`. */
  readonly build: { readonly gitCommit: string; readonly gitTreeState: string; readonly buildDate: string }
  /** The image of the server, as a container runtime would have it. */
  readonly image: UnpackedImage
  /** Archive for npm. */
  readonly tarball: string
  /** Where npm installed it, or where it was unpacked, if npm reached no registry. */
  readonly prefix: string
}

export interface UnpackedImage {
  readonly root: string
  readonly config: { readonly Entrypoint: string[]; readonly Cmd: string[]; readonly Env: string[] }
}

/** The first image of an OCI layout, in a new folder. */
export function unpackImage(layout: string, root: string): UnpackedImage {
  const blob = (digest: string): string => join(layout, 'blobs', digest.replace(':', '/'))
  const json = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T
  const { manifests } = json<{ manifests: { digest: string }[] }>(join(layout, 'index.json'))
  const { config, layers } = json<{ config: { digest: string }; layers: { digest: string }[] }>(
    blob(manifests[0]!.digest),
  )
  mkdirSync(root)
  for (const { digest } of layers) execFileSync('tar', ['-xzf', blob(digest), '-C', root, '--no-same-owner'])
  chmodSync(root, 0o755)
  return { root, config: json<{ config: UnpackedImage['config'] }>(blob(config.digest)).config }
}

/** With which a user, too, may mount. */
export const NAMESPACES = process.getuid!() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount']

/** Why nothing can be mounted here; `false` where it can. */
export function noMounts(): string | false {
  try {
    execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'none', tmpdir()], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    return false
  } catch (error) {
    return `a user may mount nothing here: ${String((error as Error).message)
      .split('\n')
      .at(-1)}`
  }
}

export function commandPath(name: string): string {
  return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
}

/** View of a program of Node on Windows, as far as our programs look. */
export const AS_ON_WINDOWS = [
  '--import',
  `data:text/javascript,${encodeURIComponent(
    "Object.defineProperty(process, 'platform', { value: 'win32' }); delete process.getuid; delete process.execve",
  )}`,
]
