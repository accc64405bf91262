// The menu of versions. Each version of the site is a folder; `versions.json` next to these folders lists them, newest
// first. From a disk, where browsers do not read the file, only this version is listed.
(async () => {
  const root = new URL(typeof path_to_root === 'string' ? path_to_root || './' : './', document.baseURI);
  const here = document.title.match(/Terrapin ([^ ]+)$/)?.[1] ?? '';
  let versions = [here];
  try {
    versions = await (await fetch(new URL('../versions.json', root))).json();
  } catch {
    // A single version.
  }
  const menu = document.createElement('select');
  menu.id = 'version-menu';
  menu.setAttribute('aria-label', 'Version');
  for (const version of versions) {
    menu.append(new Option(version, version, false, version === here));
  }
  menu.addEventListener('change', async () => {
    const page = document.location.href.slice(root.href.length);
    const other = new URL(`../${menu.value}/`, root);
    // A page that the other version lacks leads to its first page.
    const found = await fetch(new URL(page, other), { method: 'HEAD' }).then((answer) => answer.ok, () => false);
    document.location.href = new URL(found ? page : '', other).href;
  });
  document.querySelector('.right-buttons')?.prepend(menu);
})();
