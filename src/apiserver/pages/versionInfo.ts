/** Content of `/version`: the emulated Kubernetes release, which is the one of the built-in kinds, and the program. */

import type { ProtobufCodec } from '../../apimachinery/protobuf/protobufCodec.ts'
import { sendValue } from '../exchange/answers/respond.ts'
import { negotiateFormat, PLAIN } from '../http/negotiate.ts'
import type { PathEntry } from '../http/paths.ts'

const SUFFIX = 'orrery'

/** Whether the program is what its commit says; `''`: nobody knows. */
export type TreeState = 'clean' | 'dirty' | ''

export interface BuildInfo {
  /** `''`: nobody knows. */
  readonly commit: string
  /** RFC 3339; the beginning of 1970: nobody knows. */
  readonly date: string
  treeState(): Promise<TreeState>
}

/** As upstream says it. */
export const UNKNOWN_BUILD: BuildInfo = { commit: '', date: '1970-01-01T00:00:00Z', treeState: async () => '' }

export function versionPath(
  protobuf: ProtobufCodec,
  version: () => Promise<Readonly<Record<string, string>>>,
): PathEntry {
  return {
    path: '/version',
    async handle(request, answer, { info }) {
      const form = { ...PLAIN, format: negotiateFormat(request.headers.accept) }
      await sendValue({ protobuf }, { request, answer, info, form, warnings: [] }, 200, await version())
    },
  }
}

/** `release`: as in `1.36`. */
export async function versionInfo(release: string, build: BuildInfo): Promise<Readonly<Record<string, string>>> {
  const [major = '1', minor = '0'] = release.split('.')
  return {
    major,
    minor,
    gitVersion: `v${release}.0+${SUFFIX}`,
    gitCommit: build.commit,
    gitTreeState: await build.treeState(),
    buildDate: build.date,
    goVersion: `node ${process.version}`,
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Math.max(0, Number(minor) - 1)),
  }
}
