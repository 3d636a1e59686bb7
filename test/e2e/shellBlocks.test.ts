/** Every command of a page is typed by some test. A block that is added to a page has to be added here, with its test. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { shellBlocks } from './support/typedIn.ts'

const ROOT = join(import.meta.dirname, '../..')
const README = 'test/e2e/readmePage.test.ts'
const TEAM_PAGE = '## A team of its own'
const TOUR = '## Five minutes with Orrery'
const SERVER = 'test/e2e/operationsServer.test.ts'
const CLUSTERS = 'test/e2e/operationsPage.test.ts'
const INSTALL = 'test/e2e/release/installPage.ts'
const TEAM = 'test/e2e/teamRecipe.test.ts'
const RESTORED = 'test/e2e/restored.test.ts'
const MOVED = 'test/e2e/movedTenant.test.ts'

/** A test that goes through all blocks of a page, how many they may be, and fails on one that it does not know. */
const WHOLE: Readonly<Record<string, string>> = {
  'docs/aggregation.md': 'test/e2e/aggregationPage.test.ts',
  'docs/answers.md': 'test/e2e/kubestellarAnswers.test.ts',
  'docs/brake.md': 'test/e2e/placementRecipes.test.ts',
  'docs/kubernetes.md': 'test/e2e/kubernetesPage.test.ts',
  'docs/off-a-cluster.md': 'test/e2e/offAClusterPage.test.ts',
  'docs/onboarding.md': 'test/e2e/onboardingPage.test.ts',
  'docs/recipes.md': 'test/e2e/placementRecipes.test.ts',
  'docs/reports.md': 'test/e2e/reportedClusters.test.ts',
  'docs/rollouts.md': 'test/e2e/placementRollout.test.ts',
  'docs/travel.md': 'test/e2e/placementRecipes.test.ts',
  'docs/security.md': 'test/security/securityPage.test.ts',
}

/** Else by section: how many blocks it has, and a test that types them, which has its heading, or the third text. */
const SECTIONS: Readonly<
  Record<string, Readonly<Record<string, readonly [blocks: number, test: string, instead?: string]>>>
> = {
  'README.md': {
    '## Two commands': [2, README],
    '### 1. A center and a cluster': [5, README, TOUR],
    '### 2. A workload is placed': [2, README, TOUR],
    '### 3. A look before the change': [1, README, TOUR],
    '### 4. A slip, held and undone': [3, README, TOUR],
  },
  'docs/backup.md': {
    '## Take a backup': [1, RESTORED, "type('Take a backup')"],
    '## Rights': [1, RESTORED, "type('Rights')"],
    '## Regularly': [1, 'test/cli/orrery/backup/backup.test.ts'],
    '## Restore': [1, RESTORED, "type('Restore')"],
    '## After a restore': [1, RESTORED, "type('After a restore')"],
  },
  'docs/move.md': {
    '## Export': [1, MOVED, "type('Export')"],
    '## To another space of the server': [2, MOVED, "type('To another space of the server')"],
    '## To another server': [2, MOVED, "type('To another server',"],
  },
  'docs/install.md': {
    '# Install': [1, INSTALL],
    '## One file': [1, INSTALL],
    '## Completion and manual pages': [1, INSTALL],
    '## npm': [1, INSTALL],
    '## krew': [1, INSTALL],
    '## Images': [2, INSTALL],
    '## Clone': [1, INSTALL],
  },
  'docs/clusters.md': {
    '## Bring a cluster in': [5, CLUSTERS],
    '## Many clusters': [3, 'test/e2e/syncerJoin.test.ts'],
    '## Let a space place': [2, CLUSTERS],
    '## Pause a cluster': [1, CLUSTERS],
    '## Take a cluster out': [2, CLUSTERS],
  },
  'docs/guard.md': {
    '## Audit log': [1, SERVER],
    '## Budgets': [1, SERVER],
  },
  'docs/recover.md': {
    '## When something is away': [1, CLUSTERS],
    '## A server that does not come up': [1, SERVER],
  },
  'docs/run-server.md': {
    '## Start': [1, SERVER],
    '## As a service': [2, SERVER],
  },
  'docs/syncers.md': {
    '## Refusals by a cluster': [2, CLUSTERS],
    '## Which mailbox a cluster is served from': [1, CLUSTERS],
    "## Syncers' credentials": [1, CLUSTERS],
  },
  'docs/upgrade.md': { '## Center and syncers of different releases': [1, SERVER] },
  'docs/users.md': {
    '## Kubeconfigs and users': [2, SERVER],
    '## A team of its own': [1, TEAM],
    '### A first placement': [1, TEAM, TEAM_PAGE],
    '### Credentials of members': [1, TEAM, TEAM_PAGE],
    '### Kinds of an app': [1, TEAM, TEAM_PAGE],
  },
  'docs/watch.md': { '## Alerts and dashboards': [1, 'test/deploy/observed.test.ts'] },
}

/** Neither a synopsis nor an output. */
const COMMAND = /^ *(?:kubectl|orrery|helm|npm|KUBECONFIG=\S+) (?!ready:|.*(?:──|\[))/

t.test('each shell block of a page is typed by a test', async t => {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).filter(file =>
    file.endsWith('.md'),
  )
  for (const page of ['README.md', ...docs.map(file => `docs/${file}`)]) {
    const text = readFileSync(join(ROOT, page), 'utf8')
    const unmarked = [...text.matchAll(/^ *```(\w*)\n(.*?)^ *```$/gms)].filter(
      ([, language, block = '']) => language === '' && COMMAND.test(block),
    )
    t.same(unmarked, [], `${page}: commands in blocks that are not sh`)
    const blocks = shellBlocks(text)
    const whole = WHOLE[page]
    if (whole !== undefined) {
      t.ok(blocks.length > 0, `${page} has blocks`)
      t.match(readFileSync(join(ROOT, whole), 'utf8'), page.replace('docs/', ''), `${whole} reads ${page}`)
      continue
    }
    const found = Object.entries(Object.groupBy(blocks, ({ heading }) => heading))
    const known = SECTIONS[page] ?? {}
    t.strictSame(
      Object.fromEntries(found.map(([heading, each = []]) => [heading, each.length])),
      Object.fromEntries(Object.entries(known).map(([heading, [count]]) => [heading, count])),
      `${page}: blocks by section`,
    )
    for (const [heading, [, test, named = heading]] of Object.entries(known))
      t.ok(readFileSync(join(ROOT, test), 'utf8').includes(named), `${test} names ${heading}`)
  }
})
