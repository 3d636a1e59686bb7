/**
 * The flags of `orrery start` about access and its bounds, audit records, places of webhooks, and the lifetime of Events. Names are
 * kube-apiserver's, where it has them.
 */
import type { Setting } from '../shell/settings.ts'

export const ACCESS_FLAGS: readonly Setting[] = [
  { flags: '--token-auth-file <file>', description: 'CSV of static bearer tokens: token,user,uid,"group1,group2"' },
  {
    flags: '--anonymous-auth [bool]',
    description: 'let requests without credentials in as system:anonymous, group system:unauthenticated',
    default: false,
    boolean: true,
  },
  { flags: '--oidc-issuer-url <url>', description: 'https URL of an OpenID Connect issuer whose ID tokens count' },
  { flags: '--oidc-client-id <id>', description: 'audience that ID tokens must name; required with an issuer' },
  { flags: '--oidc-username-claim <claim>', description: 'claim that is the user name', default: 'sub' },
  {
    flags: '--oidc-username-prefix <prefix>',
    description: 'put before user names; - for none; default: none for the claim email, else the issuer URL and #',
  },
  { flags: '--oidc-groups-claim <claim>', description: 'claim with one group or a list of them' },
  {
    flags: '--oidc-groups-prefix <prefix>',
    description: 'put before groups; groups that begin with system: are left out, and such users refused',
  },
  {
    flags: '--oidc-required-claim <claim=value...>',
    description: 'claims that ID tokens must have with these values',
    list: true,
  },
  { flags: '--oidc-ca-file <file>', description: "PEM authorities that vouch for the issuer; default: the system's" },
  {
    flags: '--oidc-signing-algs <algorithms...>',
    description: 'algorithms that ID tokens may be signed with: RS, ES or PS with 256, 384 or 512; default: RS256',
    list: true,
  },
  {
    flags: '--service-account-max-token-expiration <duration>',
    description:
      'longest life of a ServiceAccount token on request, 1h or more; 0: 2^32 seconds. A longer request gets this, and the answer shows it',
    default: '8760h',
  },
  { flags: '--audit-policy-file <file>', description: 'YAML audit.k8s.io/v1 Policy: which requests are recorded' },
  {
    flags: '--audit-log-path <file>',
    description: 'file for audit events, one JSON object a line; - is standard output',
  },
  {
    flags: '--audit-log-maxsize <megabytes>',
    description: 'size at which the audit log is put aside',
    default: 100,
    number: true,
  },
  {
    flags: '--audit-log-maxbackup <n>',
    description: 'audit logs put aside that are kept; 0: all',
    default: 0,
    number: true,
  },
  {
    flags: '--audit-log-maxage <days>',
    description: 'days for which audit logs put aside are kept; 0: for ever',
    default: 0,
    number: true,
  },
  {
    flags: '--webhook-allowed-hosts <hosts...>',
    description:
      "where webhooks and receivers of notices may be: host names with *, addresses, CIDR ranges, localhost. Default: everywhere but the server's host, its link, unique-local and other special addresses, which is also the entry default",
    list: true,
  },
  {
    flags: '--client-certificate-networks <networks...>',
    description:
      'networks with clients that may show a certificate: addresses, CIDR ranges, localhost; default: all; elsewhere certificates count for nothing',
    list: true,
  },
  {
    flags: '--max-unauthenticated-connections <n>',
    description:
      'connections on which no credential was shown yet; default: half of what the file descriptors allow, at most 4096',
    number: true,
    minimum: 1,
  },
  {
    flags: '--max-unauthenticated-connections-per-address <n>',
    description: 'those of one address, or of an IPv6 /64; default: half of them all',
    number: true,
    minimum: 1,
  },
  {
    flags: '--event-ttl <duration>',
    description: 'how long Events live after they were last written, as 90m or 1h30m',
    default: '1h',
  },
]
