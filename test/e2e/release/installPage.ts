/**
 * docs/install.md, typed in a clone of its own. The program is made, installed by install.sh and by npm, and runs, with completion and
 * manual. npm runs no scripts, as npm 12 by itself. Some steps are left out, as they need more than a test has or would take minutes. These
 * are `npm ci` (.ci/run begins with it), a whole release (`npm run release` alone and with `--url`), and `podman`. The release's parts are
 * made here and by the tests of `tools/release/`. Podman wants a registry with the image and a machine to publish a port of.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { lacking } from '../../support/aptPrograms.ts'
import { run } from '../../support/orrery.ts'
import { freePort, Program } from '../../syncer/support/processes.ts'
import { shellBlocks } from '../support/typedIn.ts'
import { type Release, unpackImage } from './made.ts'

const ROOT = join(import.meta.dirname, '../../..')
const BLOCKS = shellBlocks(readFileSync(join(ROOT, 'docs/install.md'), 'utf8'))
/** In the order of the page. */
const HEADINGS = [
  '# Install',
  '## One file',
  '## Completion and manual pages',
  '## npm',
  '## krew',
  '## Images',
  '## Images',
  '## Clone',
]
/** Errors of npm when it cannot reach the registry for the native library. */
const OFFLINE = /ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|ENOTCACHED/

/** All is made in `dir`. */
export async function typeInstallPage(t: Test, dir: string): Promise<Release> {
  t.strictSame(
    BLOCKS.map(({ heading }) => heading),
    HEADINGS,
  )
  const [make, oneFile, shells, npm, krew, copies, container, clone] = BLOCKS.map(({ script }) =>
    script
      .trim()
      .split('\n')
      .map(line => line.replace(/ +#.*$/, '')),
  ) as [string[], string[], string[], string[], string[], string[], string[], string[]]
  const home = join(dir, 'orrery')
  const local = join(dir, 'local')
  mkdirSync(join(local, 'bin'), { recursive: true })
  const env = { HOME: dir, PATH: process.env.PATH! }
  const attempt = (command: string, cwd = home) => run('bash', ['-ec', `cd ${cwd}\n${command}`], { env })
  const type = async (command: string, cwd?: string): Promise<string> => {
    const { code, out, err } = await attempt(command, cwd)
    t.equal(code, 0, `${command}\n${out}\n${err}`)
    return out
  }

  const [get = '', install, path, ...rest] = clone
  t.strictSame([install, rest], ['npm ci', []])
  await type(get.replace('<this repository>', ROOT), dir)
  cpWorkingTree(home)
  symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'))

  const [all, images = '', ...others] = make
  t.strictSame([all, others], ['npm ci && npm run release', []])
  t.match(await type(images), /orrery-.*-images\.tar/)
  t.match(await type(`${path}; orrery version`), /^orrery \d/, 'the clone runs')

  const [script = '', start = ''] = oneFile
  t.match(await type(`${script} ${join(local, 'bin')}`), /^manual pages: /m)
  const data = join(dir, 'data')
  const here = start.replace('/var/lib/orrery', data).replace('orrery ', `${join(local, 'bin')}/orrery `)
  const set = [`ORRERY_SECURE_PORT=${await freePort()}`, `PATH=${env.PATH}`]
  const server = Program.spawned(t, 'env', [...set, ...here.split(' ')])
  await server.said('orrery ready')

  const [completion = '', pages = '', man = ''] = shells
  const PATH = `PATH=${join(local, 'bin')}:$PATH`
  t.match(await type(`${PATH}; ${completion}; complete -p orrery`), /orrery\s*$/)
  await type(pages)
  // a system without manual pages still has groff's input
  const reader = existsSync('/usr/bin/man') ? `${man} | cat` : 'cat release/man/man1/orrery-start.1'
  t.match(await type(reader), /secure.*port/)
  t.match(readFileSync(join(local, 'share/man/man1/orrery-start.1'), 'utf8'), '.TH "ORRERY-START"')
  t.equal(await server.end('SIGTERM'), 0)

  const skopeo = lacking({ '/usr/bin/skopeo': 'skopeo' })
  if (skopeo) t.comment(`skopeo copy is left out: ${skopeo}`)
  else
    for (const copy of copies)
      await type(copy.replace(/docker:\/\/registry\.example\.org\/([\w-]+):/, `oci:${join(dir, '$1')}:`))
  t.match(container.join(), /^podman run [^\n]*$/)

  // a release of changed files takes the place of the one before
  const first = join(dir, 'first')
  renameSync(join(home, 'release'), first)
  const [build = '', global = ''] = npm
  t.match(await type(build.replace(/^npm ci && /, '')), /orrery-.*\.tgz/)
  const prefix = join(dir, 'global')
  const flags = '--prefer-offline --no-audit --no-fund --fetch-retries=0 --ignore-scripts'
  const installed = await attempt(`${global} --prefix ${prefix} ${flags}`)
  const tarball = join(home, 'release', readdirSync(join(home, 'release')).find(name => name.endsWith('.tgz'))!)
  if (installed.code !== 0 && OFFLINE.test(installed.err)) {
    t.comment('npm install is left out: npm reaches no registry')
    unpack(tarball, prefix)
  } else {
    t.equal(installed.code, 0, installed.err)
    t.match(await type(`${join(prefix, 'bin/orrery')} version`), /^orrery \d/)
    t.match(readFileSync(join(prefix, 'share/man/man1/orrery-start.1'), 'utf8'), '.TH "ORRERY-START" "1"')
  }
  t.match(krew.join(), /^npm run release -- --url https:\S+$/)
  return {
    program: join(local, 'bin/orrery'),
    build: JSON.parse(readFileSync(join(first, '.build'), 'utf8')) as Release['build'],
    image: unpackImage(join(first, 'images'), join(dir, 'image')),
    tarball,
    prefix,
  }
}

/** As npm would install it, with the native library of this clone. */
function unpack(tarball: string, prefix: string): void {
  const folder = join(prefix, 'lib/node_modules/orrery')
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder])
  symlinkSync(join(ROOT, 'node_modules/classic-level'), join(folder, 'node_modules/classic-level'))
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: Record<string, string> }
  mkdirSync(join(prefix, 'bin'))
  for (const [name, path] of Object.entries(bin)) symlinkSync(join(folder, path), join(prefix, 'bin', name))
}

/** Uncommitted files are tested, too. */
function cpWorkingTree(to: string): void {
  const listed = execFileSync('git', ['ls-files', '-zmo', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  for (const path of listed.split('\0').filter(path => path !== '' && existsSync(join(ROOT, path)))) {
    if (path === 'node_modules') continue
    mkdirSync(dirname(join(to, path)), { recursive: true })
    cpSync(join(ROOT, path), join(to, path))
  }
}
