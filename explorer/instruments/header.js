// The head of every page: its name, the other pages, the link, looks and language.
(window.LossPrismInstruments ??= {}).header = (root, channel) => {
  "use strict";
  const { h, say, worded, pages } = LossPrism;

  const languageButton = h("button.lp-quiet", {
    type: "button", id: "lp-language",
    onclick: () => LossPrism.speak(LossPrism.language() === "en" ? "zh" : "en"),
  });
  const themeButton = h("button.lp-quiet", {
    type: "button", id: "lp-theme", "data-title": "ui.theme", onclick: () => LossPrism.setTheme(!LossPrism.isDark()),
  }, "◐");
  const copyButton = worded("button.lp-quiet", "ui.copy_link", {
    type: "button",
    onclick: async () => {
      if (channel.tooLong) { channel.warn({ key: "ui.link_too_long", values: {} }); return; }
      await navigator.clipboard.writeText(location.href);
      copyButton.textContent = say("ui.copied");
      setTimeout(() => { copyButton.textContent = say("ui.copy_link"); }, 1500);
    },
  });

  // Every page is served below the same address, its own path at the end.
  const last = location.pathname.replace(/\/+$/, "").split("/").pop();
  const here = pages.find(({ path }) => path && path === last) ?? pages[0];
  const up = location.pathname.replace(/\/+$/, "").slice(0, here.path ? -here.path.length : undefined).replace(/\/*$/, "/");
  const links = pages.map(({ path, key }) => worded("a", key, {
    href: up + path + location.search, "aria-current": path === here.path ? "page" : null,
  }));

  // On the way to another page the scene of Explore is left where that page can find it.
  if (!here.path) {
    const keep = () => { try { localStorage.setItem("lossprism.scene", location.hash.slice(1)); } catch { /* private window */ } };
    for (const link of links) link.addEventListener("click", keep);
  }

  root.append(
    h("header.lp-brand", {}, h("b", {}, "LossPrism"), h("span.lp-fill"), copyButton, LossPrismParts.present(channel), themeButton, languageButton),
    h("nav.lp-pages", { "data-title": "ui.pages", hidden: pages.length < 2 }, links),
  );
  LossPrism.reword(root);
  const words = () => { languageButton.textContent = LossPrism.language() === "en" ? "中文" : "English"; };
  channel.on("language", words);
  words();
};
