// Saved views: the links of the views in the navigation.
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { ViewDialog } from "./frames/save-view.tsx";
import { useValue } from "./hooks/value.ts";
import { views, type View } from "./hooks/views.ts";
import { IconButton } from "./ui/controls.tsx";
import { Icon } from "./ui/icons.tsx";

export function SavedViews(): ReactNode {
  const all = useValue(views);
  const [edited, setEdited] = useState<View | null>(null);
  if (all.length === 0 && edited === null) return null;
  return (
    <>
      <ul className="nav-list nav-views" aria-label="Saved views">
        {all.map((view) => (
          <li key={view.name}>
            <Link
              to={view.path}
              search={view.search}
              className="nav-link"
              activeOptions={{ exact: true }}
              activeProps={{ className: "active" }}
              title={view.name}
            >
              <Icon name="filter" />
              <span className="nav-label truncate">{view.name}</span>
            </Link>
            <IconButton icon="more" label={`Rename or delete ${view.name}`} onClick={() => setEdited(view)} />
          </li>
        ))}
      </ul>
      {edited === null ? null : <ViewDialog view={edited} onClose={() => setEdited(null)} />}
    </>
  );
}
