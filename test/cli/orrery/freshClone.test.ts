/** A clone in which nothing is installed yet says what to run, whatever Node.js the machine has. */
import { spawnSync } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PROGRAM_ROOT } from '../../../src/program/programRoot.ts'
import { temporaryDir } from '../../support/server.ts'

t.test('each program names the command and the folder', async t => {
  const clone = temporaryDir(t)
  cpSync(join(PROGRAM_ROOT, 'bin'), join(clone, 'bin'), { recursive: true })
  symlinkSync(join(clone, 'bin', 'orrery'), join(clone, 'elsewhere'))
  for (const program of ['bin/orrery', 'bin/kubectl-ws', 'bin/kubectl-kubestellar', 'elsewhere']) {
    const { status, stderr, stdout } = spawnSync(join(clone, program), ['version'], { encoding: 'utf8' })
    const remedy = `run "npm ci" in ${clone}, without --omit=optional`
    t.match({ status, stdout, stderr }, { status: 1, stdout: '' }, program)
    t.equal(stderr, `orrery: there is no Node.js in ${clone}/node_modules: ${remedy}\n`)
  }
})
