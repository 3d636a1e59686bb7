/** Identity of a program: from a checkout's `.git`, from a package, or none. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { buildInfo } from '../../../../src/cli/orrery/version/buildInfo.ts'
import { readCheckout } from '../../../../src/cli/orrery/version/checkout.ts'
import { buildText, releaseDate } from '../../../../tools/release/buildFile.ts'
import { run } from '../../../support/orrery.ts'
import { temporaryDir } from '../../../support/server.ts'

const ONE = '1'.repeat(40)
const TWO = '2'.repeat(40)
const LONG = 'a'.repeat(64)
const REPOSITORY = join(import.meta.dirname, '../../../..')

function folder(t: Test, files: Record<string, string>): string {
  const root = temporaryDir(t)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

t.test('the commit of a checkout, as git may keep it', async t => {
  const branch = 'ref: refs/heads/a/b\n'
  const packed = `# pack-refs with: peeled fully-peeled sorted\n${TWO} refs/heads/x/a/b\n${ONE} refs/heads/a/b\n^${TWO}\n`
  const main = '.git/refs/heads/a/b'
  const other = '.git/worktrees/other'
  const cases: Record<string, [files: Record<string, string>, commit: string | undefined]> = {
    branch: [{ '.git/HEAD': branch, [main]: `${ONE}\n` }, ONE],
    'packed branch': [{ '.git/HEAD': branch, '.git/packed-refs': packed }, ONE],
    'branch that moved since it was packed': [{ '.git/HEAD': branch, [main]: TWO, '.git/packed-refs': packed }, TWO],
    'no branch': [{ '.git/HEAD': `${ONE}\n` }, ONE],
    'ids of SHA-256': [{ '.git/HEAD': `${LONG}\n` }, LONG],
    'branch that is another name': [{ '.git/HEAD': 'ref: refs/x', '.git/refs/x': branch, [main]: ONE }, ONE],
    'further worktree': [
      {
        '.git': 'gitdir: main/.git/worktrees/other\n',
        [`main/${other}/HEAD`]: branch,
        [`main/${other}/commondir`]: '../..\n',
        [`main/${main}`]: `${ONE}\n`,
      },
      ONE,
    ],
    'further worktree, packed branch': [
      {
        '.git': 'gitdir: main/.git/worktrees/other\n',
        [`main/${other}/HEAD`]: branch,
        [`main/${other}/commondir`]: '../..\n',
        'main/.git/packed-refs': packed,
      },
      ONE,
    ],
    submodule: [{ '.git': 'gitdir: modules/sub\n', 'modules/sub/HEAD': ONE }, ONE],
    'no commit yet': [{ '.git/HEAD': branch }, undefined],
    'refs kept otherwise': [{ '.git/HEAD': 'ref: refs/heads/.invalid\n', '.git/reftable/tables.list': '' }, undefined],
    'names in a circle': [{ '.git/HEAD': branch, [main]: branch }, undefined],
    'a name that leads out': [{ '.git/HEAD': 'ref: refs/../../secret', secret: ONE }, undefined],
    rubbish: [{ '.git/HEAD': 'rubbish' }, undefined],
    'no checkout': [{ HEAD: ONE }, undefined],
  }
  for (const [title, [files, commit]] of Object.entries(cases)) {
    t.equal(readCheckout(folder(t, files))?.commit, commit, title)
  }
  const inside = join(folder(t, { '.git/HEAD': ONE }), 'node_modules', 'orrery')
  mkdirSync(inside, { recursive: true })
  t.equal(readCheckout(inside), undefined, "another project's")
})

t.test('when it came to be at it, if git keeps a log of that', async t => {
  const line = (from: string, to: string, seconds: number): string =>
    `${from} ${to} A <B> C <a@b.example> ${seconds} +0530\tcommit: why > 9 +0000\n`
  const many = Array.from({ length: 200 }, (_, i) => line(ONE, TWO, i)).join('')
  const log = many + line(TWO, ONE, 1_700_000_000)
  const at = (files: Record<string, string>) => buildInfo(folder(t, { '.git/HEAD': ONE, ...files })).date
  t.equal(at({ '.git/logs/HEAD': log }), '2023-11-14T22:13:20Z')
  t.equal(at({ '.git/logs/HEAD': log + line(ONE, TWO, 1_800_000_000) }), '1970-01-01T00:00:00Z', 'it is elsewhere')
  t.equal(at({}), '1970-01-01T00:00:00Z')
})

t.test('a package says what was written when it was packed', async t => {
  const build = { gitCommit: ONE, gitTreeState: 'clean', buildDate: '2026-01-31T10:20:30Z' }
  const root = folder(t, { 'build.json': JSON.stringify(build) })
  const { commit, date, treeState } = buildInfo(root)
  t.strictSame([commit, date, await treeState()], [ONE, '2026-01-31T10:20:30Z', 'clean'])
  writeFileSync(join(root, '.git'), 'gitdir: .bare\n')
  mkdirSync(join(root, '.bare'))
  writeFileSync(join(root, '.bare/HEAD'), TWO)
  t.equal(buildInfo(root).commit, TWO, 'a checkout knows better than what was left in it')
  t.throws(() => buildInfo(folder(t, { 'build.json': '{}' })), /build\.json is broken: install the package again/)
  const nobody = buildInfo(folder(t, {}))
  t.strictSame([nobody.commit, nobody.date, await nobody.treeState()], ['', '1970-01-01T00:00:00Z', ''])
})

t.test('a tree is clean as long as the program in it is the one of its commit', async t => {
  const root = folder(t, { 'src/program.ts': '', 'docs/notes.md': '', 'package.json': '{}' })
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' })
  try {
    git('init', '--quiet')
  } catch {
    t.comment('skipped: this machine has no git')
    return
  }
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@b.example', 'commit', '--quiet', '--message', 'first')
  const { commit, treeState } = buildInfo(root)
  t.equal(commit, git('rev-parse', 'HEAD').trim())
  t.equal(await treeState(), 'clean')
  appendFileSync(join(root, 'docs/notes.md'), 'more')
  t.equal(await buildInfo(root).treeState(), 'clean')
  t.equal(await treeState(), 'clean')
  writeFileSync(join(root, 'src/another.ts'), '')
  t.equal(await buildInfo(root).treeState(), 'dirty', 'a file more')
  t.equal(await treeState(), 'clean', 'what runs is what it was')
  rmSync(join(root, 'src/another.ts'))
  appendFileSync(join(root, 'src/program.ts'), 'more')
  t.equal(await buildInfo(root).treeState(), 'dirty', 'a file changed')
  rmSync(join(root, '.git/objects'), { recursive: true })
  t.equal(await buildInfo(root).treeState(), '', 'git cannot say')
})

t.test('what is released knows the commit, and says when that was made', async t => {
  const root = folder(t, { '.git/HEAD': ONE })
  process.env.SOURCE_DATE_EPOCH = '1700000000'
  t.teardown(() => delete process.env.SOURCE_DATE_EPOCH)
  const text = await buildText(root)
  rmSync(join(root, '.git'), { recursive: true })
  writeFileSync(join(root, 'build.json'), text)
  const { commit, date } = buildInfo(root)
  t.strictSame([commit, date], [ONE, '2023-11-14T22:13:20Z'])
  delete process.env.SOURCE_DATE_EPOCH
  t.strictSame(releaseDate(root), new Date(0), 'of what is in no repository nobody knows')
  const made = Number(
    execFileSync('git', ['show', '-s', '--format=%ct', 'HEAD'], { cwd: REPOSITORY, encoding: 'utf8' }),
  )
  t.strictSame(releaseDate(), new Date(made * 1000))
})

t.test('the command line tells it', async t => {
  const program = join(REPOSITORY, 'bin/orrery')
  const { commit } = buildInfo()
  for (const word of ['--version', 'version']) {
    const { code, out } = await run(program, [word])
    t.equal(code, 0)
    t.match(out, /^orrery \d+\.\d+\.\d+( \(.+\))?\n$/)
    t.ok(out.includes(commit))
  }
})
