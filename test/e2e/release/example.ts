/**
 * KubeStellar's extended example on what was installed. Server, clusters and guilder's syncer are the one file, in a root without Node.js
 * where a user may mount. The npm package runs florin's syncer, and the plugins, which find nothing that Windows lacks.
 */
import { copyFileSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { run, startOrrery } from '../../support/orrery.ts'
import { temporaryDir } from '../../support/server.ts'
import { Program } from '../../syncer/support/processes.ts'
import { noKubectl, playExample1 } from '../support/example1.ts'
import { AS_ON_WINDOWS, commandPath, NAMESPACES, noMounts, type Release } from './made.ts'

export async function playReleased(t: Test, release: Release): Promise<void> {
  const lacking = noKubectl()
  if (lacking) return t.comment(`the example is skipped: ${lacking}`)
  const dir = temporaryDir(t)
  const oneFile = noMounts() ? release.program : inRoot(t, release, dir)
  const installed = (name: string): string => join(release.prefix, 'bin', name)
  const server = await startOrrery(t, join(dir, 'server'), { program: oneFile })
  const admin = join(dir, 'admin.kubeconfig')
  copyFileSync(server.kubeconfig, admin)
  await playExample1(t, {
    dir,
    inventory: admin,
    special: admin,
    startCluster: args => Program.spawned(t, oneFile, args),
    startSyncer(name, from, to) {
      const state = join(dir, `${name}-state`)
      const program = name === 'florin' ? installed('orrery') : oneFile
      Program.spawned(t, program, ['syncer', '--from-kubeconfig', from, '--to-kubeconfig', to, '--state-dir', state])
    },
    async type(KUBECONFIG, program, ...args) {
      const plugin = [...AS_ON_WINDOWS, realpathSync(installed(program)), ...args]
      const { code, out, err } = await run(process.execPath, plugin, { env: { KUBECONFIG, PATH: '/nowhere' } })
      t.equal(code, 0, `${program} ${args.join(' ')}\n${err}`)
      return out
    },
  })
  t.equal(await server.stop(), 0)
}

/** A program that runs `orrery` in the root of its image, with `dir` under its own name. */
function inRoot(t: Test, { image: { root, config } }: Release, dir: string): string {
  mkdirSync(join(root, dir), { recursive: true })
  const script = [
    ...['proc', 'dev'].map(folder => `mount --rbind /${folder} ${root}/${folder}`),
    `mount --bind ${dir} ${root}${dir}`,
    `exec env -i PATH=/nowhere KUBECONFIG="$KUBECONFIG" ${commandPath('chroot')} ${root} "$@"`,
  ].join(' && ')
  const program = join(temporaryDir(t), 'orrery')
  const text = `#!/bin/sh\nexec unshare ${NAMESPACES.join(' ')} sh -c '${script}' sh ${config.Entrypoint[0]} "$@"\n`
  writeFileSync(program, text, { mode: 0o755 })
  return program
}
