/** Compiled code is kept where only the user can put something: whatever lies there is run. */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PROGRAM_ROOT } from '../../../src/program/programRoot.ts'
import { temporaryDir } from '../../support/server.ts'

const OWN = 'node_modules/.cache/orrery'
const HOME = 'home/.cache/orrery/compiled'

/** Where a program in `root` keeps it, from there; `''` for nowhere. */
function folderOf(root: string, more: Record<string, string> = {}): string {
  writeFileSync(join(root, 'package.json'), '{"type": "module"}')
  copyFileSync(join(PROGRAM_ROOT, 'src/cli/shell/compileCache.js'), join(root, 'compileCache.js'))
  const script = `
    import { getCompileCacheDir } from 'node:module'
    import { keepCompiledCode } from './compileCache.js'
    keepCompiledCode()
    process.stdout.write(getCompileCacheDir() ?? '')`
  writeFileSync(join(root, 'program.js'), script)
  const env = { PATH: process.env.PATH, HOME: join(root, 'home'), ...more }
  const path = execFileSync(process.execPath, [join(root, 'program.js')], { env, encoding: 'utf8' })
  return path.replace(`${root}/`, '').replace(/\/[^/]+$/, '')
}

/** A folder whose `node_modules` cannot hold a cache, as if it were somebody else's. */
function foreign(t: Test): string {
  const root = temporaryDir(t)
  writeFileSync(join(root, 'node_modules'), '')
  return root
}

t.test('beside the program, if that is possible', async t => {
  t.equal(folderOf(temporaryDir(t)), OWN)
})

t.test("else below the user's home", async t => {
  t.equal(folderOf(foreign(t)), HOME)
  const root = foreign(t)
  const caches = { XDG_CACHE_HOME: join(root, 'caches') }
  t.equal(folderOf(root, caches), 'caches/orrery/compiled')
  t.equal(folderOf(foreign(t), { XDG_CACHE_HOME: 'relative' }), HOME)
})

t.test('not where others may write', async t => {
  const root = temporaryDir(t)
  mkdirSync(join(root, OWN), { recursive: true })
  chmodSync(join(root, OWN), 0o777)
  t.equal(folderOf(root), HOME)
})

t.test('nowhere, if there is no place for it', async t => {
  const root = foreign(t)
  writeFileSync(join(root, 'home'), '')
  t.equal(folderOf(root), '')
})

t.test('where the caller says', async t => {
  const root = temporaryDir(t)
  t.equal(folderOf(root, { NODE_COMPILE_CACHE: join(root, 'mine') }), 'mine')
})
