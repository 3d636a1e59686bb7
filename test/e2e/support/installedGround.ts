/** KubeStellar's extended example on programs that were installed: server, clusters, syncers and plugins. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Ran, run, startOrrery } from '../../support/orrery.ts'
import { temporaryDir } from '../../support/server.ts'
import { Program } from '../../syncer/support/processes.ts'
import { playExample1 } from './example1.ts'

export interface Installed {
  /** The folder of `orrery` and the plugins. */
  readonly bin: string
  /** A folder that they reach under the same name. */
  readonly dir?: string
  /** Runs a plugin; default: as it is. */
  readonly plugin?: (path: string, args: readonly string[], env: Record<string, string>) => Promise<Ran>
}

export async function playInstalled(t: Test, { bin, dir = temporaryDir(t), plugin }: Installed): Promise<void> {
  const orrery = join(bin, 'orrery')
  const server = await startOrrery(t, join(dir, 'server'), { program: orrery })
  const admin = join(dir, 'admin.kubeconfig')
  copyFileSync(server.kubeconfig, admin)
  await playExample1(t, {
    dir,
    inventory: admin,
    special: admin,
    startCluster: args => Program.spawned(t, orrery, args),
    startSyncer(name, from, to) {
      const state = join(dir, `${name}-state`)
      Program.spawned(t, orrery, ['syncer', '--from-kubeconfig', from, '--to-kubeconfig', to, '--state-dir', state])
    },
    async type(KUBECONFIG, program, ...args) {
      const path = join(bin, program)
      const { code, out, err } = await (plugin?.(path, args, { KUBECONFIG }) ??
        run(path, args, { env: { KUBECONFIG } }))
      t.equal(code, 0, `${program} ${args.join(' ')}\n${err}`)
      return out
    },
  })
  t.equal(await server.stop(), 0)
}
