/** The flags about access, audit and Events: their meaning for the server, and the messages for a wrong one. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import t from 'tap'
import { ACCESS_FLAGS } from '../../../../src/cli/orrery/accessFlags.ts'
import { type AccessOptions, accessOptions } from '../../../../src/cli/orrery/server/accessOptions.ts'
import { durationMs } from '../../../../src/cli/shell/durations.ts'
import { addSettings, type Setting, settingsOf } from '../../../../src/cli/shell/settings.ts'

const CONFIG: Setting = { flags: '--config <file>', description: '' }

async function read(...args: string[]): Promise<AccessOptions> {
  const settings = [CONFIG, ...ACCESS_FLAGS]
  const command = new Command('test').exitOverride().configureOutput({ writeErr: () => {} })
  addSettings(command, settings)
  command.parse(args, { from: 'user' })
  return accessOptions(await settingsOf(command, settings), { error: () => {} })
}

t.test('without flags nobody anonymous, no issuer, no audit, tokens live a year, and Events an hour', async t => {
  t.strictSame(await read(), { anonymousAuth: false, maxTokenSeconds: 31_536_000, eventTtlMs: 3_600_000 })
})

t.test('an issuer with all that upstream knows of it', async t => {
  const dir = t.testdir({ 'ca.pem': 'PEM' })
  const flags = [
    ...['--oidc-issuer-url', 'https://id.example', '--oidc-client-id', 'orrery', '--oidc-username-claim=email'],
    ...['--oidc-username-prefix', '-', '--oidc-groups-claim', 'roles', '--oidc-groups-prefix', 'oidc:'],
    ...['--oidc-required-claim', 'hd=example.com', '--oidc-required-claim', 'a=b=c'],
    ...['--oidc-signing-algs', 'RS256,ES256', '--oidc-ca-file', join(dir, 'ca.pem')],
  ]
  t.strictSame((await read(...flags)).oidc, {
    issuerUrl: 'https://id.example',
    clientId: 'orrery',
    requiredClaims: { hd: 'example.com', a: 'b=c' },
    usernameClaim: 'email',
    usernamePrefix: '-',
    groupsClaim: 'roles',
    groupsPrefix: 'oidc:',
    signingAlgorithms: ['RS256', 'ES256'],
    caPem: 'PEM',
  })
  await t.rejects(read('--oidc-issuer-url', 'https://x'), /--oidc-client-id must be specified together/)
  await t.rejects(read('--oidc-ca-file', 'ca.pem'), { message: /--oidc-ca-file goes with --oidc-issuer-url/ })
  const issuer = ['--oidc-issuer-url', 'https://x', '--oidc-client-id', 'c']
  await t.rejects(read(...issuer, '--oidc-required-claim', 'hd'), /--oidc-required-claim: "hd" is not claim=value/)
  await t.rejects(read(...issuer, '--oidc-ca-file', join(dir, 'none')), /--oidc-ca-file: ENOENT/)
})

t.test(
  'a file of tokens that is missing or wrong is said with the name of the flag, before anything starts',
  async t => {
    const dir = t.testdir({ 'good.csv': 'secret,ann,1\n', 'short.csv': 'secret,ann\n' })
    t.strictSame((await read('--token-auth-file', join(dir, 'good.csv'))).tokenFile, 'secret,ann,1\n')
    await t.rejects(read('--token-auth-file', join(dir, 'none')), /^--token-auth-file: ENOENT.*none'/)
    await t.rejects(
      read('--token-auth-file', join(dir, 'short.csv')),
      /^--token-auth-file: token file '.*short\.csv', line 1 must have at least 3 columns .*, found 2$/,
    )
  },
)

t.test('anonymous-auth is a switch, by flag and in the config file', async t => {
  const config = join(t.testdir(), 'c.yaml')
  writeFileSync(config, 'anonymous-auth: true\nevent-ttl: 90m\n')
  t.equal((await read('--anonymous-auth')).anonymousAuth, true)
  t.equal((await read('--anonymous-auth=false')).anonymousAuth, false)
  t.match(await read('--config', config), { anonymousAuth: true, eventTtlMs: 5_400_000 })
  t.equal((await read('--config', config, '--anonymous-auth=false')).anonymousAuth, false)
  await t.rejects(read('--anonymous-auth=maybe'), /must be true or false/)
})

t.test('the longest life of a token is as kube-apiserver takes it', async t => {
  const flag = '--service-account-max-token-expiration'
  for (const [text, seconds] of [
    ['2160h', 7_776_000],
    ['1h', 3600],
    ['0', 2 ** 32],
  ] as const) {
    t.equal((await read(flag, text)).maxTokenSeconds, seconds, text)
  }
  for (const text of ['59m59s', '2000000h', '-1h', '90d', '']) {
    const message = `${flag}: ${JSON.stringify(text)} is no duration between 1h and 2^32 seconds, such as 8760h`
    await t.rejects(read(`${flag}=${text}`), { message })
  }
})

t.test('where webhooks may be is a list that is checked before anything starts', async t => {
  const { webhookAllowedHosts } = await read('--webhook-allowed-hosts', 'hooks.example.com,10.0.0.0/8')
  t.strictSame(webhookAllowedHosts, ['hooks.example.com', '10.0.0.0/8'])
  const { strangers } = await read(
    '--max-unauthenticated-connections=100',
    '--max-unauthenticated-connections-per-address=7',
  )
  t.strictSame(strangers, { total: 100, perAddress: 7 })
  await t.rejects(read('--max-unauthenticated-connections=0'), { message: /: 0 is less than 1$/ })
  t.match(await read('--client-certificate-networks', 'localhost,10.0.0.0/8'), {
    clientCertificateNetworks: ['localhost', '10.0.0.0/8'],
  })
  await t.rejects(read('--client-certificate-networks', '10.0.0.0/8,hooks'), {
    message: '--client-certificate-networks: "hooks" is no address, CIDR range or localhost',
  })
  await t.rejects(read('--webhook-allowed-hosts', '10.0.0.0/40'), {
    message: '--webhook-allowed-hosts: "10.0.0.0/40" is no host name, address or CIDR range',
  })
})

t.test('an audit log takes a policy and a place, and a policy that can work', async t => {
  const dir = t.testdir({
    'good.yaml': 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n',
    'bad.yaml': 'x',
  })
  const [good, bad, log] = ['good.yaml', 'bad.yaml', 'audit.log'].map(name => join(dir, name)) as [
    string,
    string,
    string,
  ]
  await t.rejects(read('--audit-log-path', log), /--audit-log-path needs --audit-policy-file/)
  await t.rejects(read('--audit-policy-file', good), /--audit-policy-file needs --audit-log-path/)
  await t.rejects(
    read('--audit-policy-file', bad, '--audit-log-path', log),
    /--audit-policy-file: .*bad\.yaml: .*mapping/,
  )
  for (const path of [log, '-']) {
    const { audit } = await read('--audit-policy-file', good, '--audit-log-path', path)
    t.ok(audit)
    await audit?.close()
  }
})

t.test('durations as Kubernetes writes them', async t => {
  for (const [text, ms] of [
    ['1h', 3_600_000],
    ['1h30m', 5_400_000],
    ['1h0m0s', 3_600_000],
    ['1.5s', 1500],
    ['250ms', 250],
    ['0', 0],
  ] as const) {
    t.equal(durationMs(text), ms, text)
  }
  for (const text of ['', '1', 'h', '1d', '-1h', '1h ']) t.equal(durationMs(text), undefined, JSON.stringify(text))
  await t.rejects(read('--event-ttl', '1d'), /--event-ttl: "1d" is no duration/)
  await t.rejects(read('--event-ttl', '0'), /--event-ttl/)
})
