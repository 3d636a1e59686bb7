/** What `/version` says: the emulated Kubernetes release, which is the one of the built-in kinds. */

const SUFFIX = 'orrery'

/** `release`: as in `1.36`. */
export function versionInfo(release: string): Readonly<Record<string, string>> {
  const [major = '1', minor = '0'] = release.split('.')
  return {
    major,
    minor,
    gitVersion: `v${release}.0+${SUFFIX}`,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node ${process.version}`,
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Math.max(0, Number(minor) - 1)),
  }
}
